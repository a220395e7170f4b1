package streamgauge.kafka;

import java.time.Duration;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;

/** The whole consume loop in Java, timed from the assignment on. */
public final class ConsumeLoop {
    private static final long LONGEST_POLL_NS = 100_000_000;

    private final KafkaConsumer<Integer, byte[]> consumer;
    private final Places places;

    public ConsumeLoop(Map<String, Object> config, String[] topics) {
        this.consumer = new KafkaConsumer<>(config);
        this.places = new Places(topics);
    }

    /** Elapsed ns, received, wrong, repeated; `values` is null when nothing is to be checked. */
    public long[] consume(long[] start, int expected, long timeoutNs, byte[][] values) {
        Check check = values == null ? null : new Check(values);
        int received = 0;
        long begin = System.nanoTime();
        places.assign(consumer, start);
        while (received < expected && System.nanoTime() - begin < timeoutNs) {
            ConsumerRecords<Integer, byte[]> records = poll(begin + timeoutNs);
            received += records.count();
            if (check != null) {
                records.forEach(check::look);
            }
        }
        long elapsed = System.nanoTime() - begin;
        consumer.unsubscribe();
        return new long[] {elapsed, received, check == null ? 0 : check.wrong, check == null ? 0 : check.repeated};
    }

    /** Ns of each trip of a message to the broker and back, one after the other, until the time is up. */
    public long[] roundTrips(
            ProduceLoop producer, int topic, byte[][] values, int first, int count, long[] start, long timeoutNs) {
        long[] trips = new long[count];
        long deadline = System.nanoTime() + timeoutNs;
        places.assign(consumer, start);
        while (!places.endsKnown(consumer) && System.nanoTime() < deadline) {
            poll(Math.min(deadline, System.nanoTime() + LONGEST_POLL_NS / 5));
        }
        int back = 0;
        while (back < count) {
            int ordinal = first + back;
            long sent = System.nanoTime();
            producer.send(topic, ordinal, values[ordinal % values.length]);
            if (!comes(ordinal, deadline)) {
                break;
            }
            trips[back++] = System.nanoTime() - sent;
        }
        consumer.unsubscribe();
        return Arrays.copyOf(trips, back);
    }

    private boolean comes(int ordinal, long deadline) {
        while (System.nanoTime() < deadline) {
            for (ConsumerRecord<Integer, byte[]> record : poll(deadline)) {
                if (record.key() != null && record.key() == ordinal) {
                    return true;
                }
            }
        }
        return false;
    }

    private ConsumerRecords<Integer, byte[]> poll(long deadline) {
        long left = Math.max(0, deadline - System.nanoTime());
        return consumer.poll(Duration.ofNanos(Math.min(left, LONGEST_POLL_NS)));
    }

    public void close(long timeoutMs) {
        consumer.close(Duration.ofMillis(timeoutMs));
    }

    /** Is it the value that this ordinal was sent with, and has it not come before? */
    private static final class Check {
        private final byte[][] values;
        private final BitSet seen = new BitSet();
        private int wrong;
        private int repeated;

        Check(byte[][] values) {
            this.values = values;
        }

        void look(ConsumerRecord<Integer, byte[]> record) {
            Integer ordinal = record.key();
            if (ordinal == null || ordinal < 0 || !Arrays.equals(record.value(), values[ordinal % values.length])) {
                wrong++;
            } else if (seen.get(ordinal)) {
                repeated++;
            } else {
                seen.set(ordinal);
            }
        }
    }
}
