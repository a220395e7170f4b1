package streamgauge.transports;

import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

/** One topic to produce to. */
public final class KafkaOutlet implements Outlet {
    private final KafkaProducer<byte[], byte[]> producer;
    private final String topic;
    private final Fates fates;

    public KafkaOutlet(Map<String, Object> config, String topic, Fates fates) {
        this.producer = new KafkaProducer<>(config);
        this.topic = topic;
        this.fates = fates;
        producer.partitionsFor(topic);
    }

    @Override
    public long offer(long sequence, byte[] bytes, int length) {
        byte[] value = Arrays.copyOf(bytes, length);
        try {
            producer.send(new ProducerRecord<>(topic, value), (metadata, error) -> {
                if (error == null) {
                    fates.acked(sequence, metadata.hasOffset() ? metadata.offset() : -1);
                } else {
                    fates.failed(sequence, OrderSender.describe(error));
                }
            });
        } catch (RuntimeException refused) {
            fates.failed(sequence, OrderSender.describe(refused));
        }
        return PENDING;
    }

    @Override
    public void flushSoon() {
        producer.flush();
    }

    @Override
    public void close() {
        producer.close(Duration.ofSeconds(5));
    }
}
