package streamgauge.transports;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;

/** One partition to consume. A poll waits as long as Kafka lets it: the thread that calls it has nothing else to do. */
public final class KafkaInlet implements Inlet {
    private static final Duration PATIENCE = Duration.ofMillis(20);

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final TopicPartition place;

    public KafkaInlet(Map<String, Object> config, String topic, int partition, long from) {
        consumer = new KafkaConsumer<>(config);
        place = new TopicPartition(topic, partition);
        consumer.assign(List.of(place));
        consumer.seek(place, from);
    }

    @Override
    public int poll(Sink sink) {
        int count = 0;
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(PATIENCE)) {
            byte[] value = record.value() == null ? new byte[0] : record.value();
            // Kafka's: -1 none, 0 create time, 1 append time.
            sink.take(value, value.length, record.offset(), record.timestamp(), record.timestampType().id + 1);
            count++;
        }
        return count;
    }

    @Override
    public boolean isReady() {
        return consumer.currentLag(place).isPresent();
    }

    @Override
    public void close() {
        consumer.close(Duration.ofSeconds(5));
    }
}
