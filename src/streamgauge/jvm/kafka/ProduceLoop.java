package streamgauge.kafka;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;

/** The whole produce loop in Java: message i has the key i and the value i modulo their number. */
public final class ProduceLoop {
    private final KafkaProducer<Integer, byte[]> producer;
    private final String[] topics;
    private String firstError;

    public ProduceLoop(Map<String, Object> config, String[] topics) {
        this.producer = new KafkaProducer<>(config);
        this.topics = topics;
    }

    /** Wait for the metadata of every topic, so that the first message need not. */
    public void connect() {
        for (String topic : topics) {
            producer.partitionsFor(topic);
        }
    }

    /** Elapsed ns, paused ns, acked, failed; without bursts, their length is 0. */
    public long[] produce(
            int topic, byte[][] values, int first, int count, int burstLength, long burstIntervalNs, long timeoutNs) {
        String name = topics[topic];
        Tally tally = new Tally();
        firstError = null;
        long pausedNs = 0;
        long begin = System.nanoTime();
        for (int i = 0; i < count; i++) {
            if (burstLength > 0 && i > 0 && i % burstLength == 0) {
                pausedNs += pause(burstIntervalNs);
            }
            // Pauses that were asked for are no delay.
            if (System.nanoTime() - begin - pausedNs > timeoutNs) {
                break;
            }
            int ordinal = first + i;
            try {
                producer.send(new ProducerRecord<>(name, ordinal, values[ordinal % values.length]), tally);
            } catch (RuntimeException refused) {
                tally.onCompletion(null, refused);
            }
        }
        // Kafka calls back before it lets go of who waits for a flush.
        producer.flush();
        long elapsed = System.nanoTime() - begin;
        firstError = tally.firstError;
        return new long[] {elapsed, pausedNs, tally.acked, tally.failed};
    }

    private static long pause(long forNs) {
        long begin = System.nanoTime();
        long left;
        while ((left = begin + forNs - System.nanoTime()) > 0) {
            LockSupport.parkNanos(left);
        }
        return System.nanoTime() - begin;
    }

    /** Why the first of the failed messages of the last loop failed, or null. */
    public String firstError() {
        return firstError;
    }

    void send(int topic, int ordinal, byte[] value) {
        producer.send(new ProducerRecord<>(topics[topic], ordinal, value));
    }

    public void close(long timeoutMs) {
        producer.close(Duration.ofMillis(timeoutMs));
    }

    private static final class Tally implements Callback {
        private int acked;
        private int failed;
        private String firstError;

        // Kafka's thread and, for messages refused at once, the one that sends.
        @Override
        public synchronized void onCompletion(RecordMetadata metadata, Exception error) {
            if (error == null) {
                acked++;
                return;
            }
            failed++;
            if (firstError == null) {
                firstError = error.getMessage() == null ? error.getClass().getSimpleName() : error.getMessage();
            }
        }
    }
}
