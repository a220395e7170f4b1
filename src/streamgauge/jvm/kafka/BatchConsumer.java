package streamgauge.kafka;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.header.Header;

/**
 * A consumer that hands over many records with one call.
 *
 * <p>A poll fills Python's buffer, for n records: n offsets (long), n timestamps (long), n lengths of values, n lengths of
 * what is carried (-1 for none), n topics, n partitions, n kinds of timestamp (int each); then the bytes of all
 * values, then of all that is carried. What is carried is the key, or the record header of the given name.
 */
public final class BatchConsumer {
    private static final int ROW_BYTES = 2 * Long.BYTES + 5 * Integer.BYTES;

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final Places places;
    private final boolean keys;
    private final String header;
    private ByteBuffer output;
    private ConsumerRecords<byte[], byte[]> pending = ConsumerRecords.empty();

    /** Without keys and with no header's name, nothing is carried. */
    public BatchConsumer(Map<String, Object> config, String[] topics, boolean keys, String header) {
        this.consumer = new KafkaConsumer<>(config);
        this.places = new Places(topics);
        this.keys = keys;
        this.header = header;
    }

    public void setOutput(ByteBuffer buffer) {
        output = buffer.order(ByteOrder.nativeOrder());
    }

    /** Triples of topic, partition and offset. */
    public void assign(long[] start) {
        pending = ConsumerRecords.empty();
        places.assign(consumer, start);
    }

    public void subscribe(long[] start) {
        places.subscribe(consumer, start);
    }

    /** How many records were written to the buffer; when there is not enough room, what is needed, negative. */
    public int poll(long timeoutMs) {
        if (pending.isEmpty()) {
            pending = consumer.poll(Duration.ofMillis(timeoutMs));
        }
        if (pending.isEmpty()) {
            return 0;
        }
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>(pending.count());
        pending.forEach(records::add);
        int valueBytes = 0;
        int carriedBytes = 0;
        for (ConsumerRecord<byte[], byte[]> record : records) {
            valueBytes += length(record.value());
            carriedBytes += length(carried(record));
        }
        int count = records.size();
        int needed = count * ROW_BYTES + valueBytes + carriedBytes;
        if (needed > output.capacity()) {
            return -needed;
        }
        write(records, count * ROW_BYTES, count * ROW_BYTES + valueBytes);
        pending = ConsumerRecords.empty();
        return count;
    }

    private void write(List<ConsumerRecord<byte[], byte[]>> records, int valueAt, int carriedAt) {
        int count = records.size();
        int ints = 2 * count * Long.BYTES;
        for (int row = 0; row < count; row++) {
            ConsumerRecord<byte[], byte[]> record = records.get(row);
            byte[] value = record.value();
            byte[] carried = carried(record);
            output.putLong(row * Long.BYTES, record.offset());
            output.putLong((count + row) * Long.BYTES, record.timestamp());
            output.putInt(ints + row * Integer.BYTES, length(value));
            output.putInt(ints + (count + row) * Integer.BYTES, carried == null ? -1 : carried.length);
            output.putInt(ints + (2 * count + row) * Integer.BYTES, places.number(record.topic()));
            output.putInt(ints + (3 * count + row) * Integer.BYTES, record.partition());
            output.putInt(ints + (4 * count + row) * Integer.BYTES, record.timestampType().id);
            if (value != null) {
                output.put(valueAt, value);
                valueAt += value.length;
            }
            if (carried != null) {
                output.put(carriedAt, carried);
                carriedAt += carried.length;
            }
        }
    }

    private byte[] carried(ConsumerRecord<byte[], byte[]> record) {
        if (keys) {
            return record.key();
        }
        Header found = header == null ? null : record.headers().lastHeader(header);
        return found == null ? null : found.value();
    }

    private static int length(byte[] bytes) {
        return bytes == null ? 0 : bytes.length;
    }

    /** Has a fetch of every assigned partition been answered? */
    public boolean endsKnown() {
        return places.endsKnown(consumer);
    }

    /** How often a group has given it partitions. */
    public int dealtCount() {
        return places.dealtCount();
    }

    /** Triples of topic, partition and position, of what is assigned. */
    public long[] positions() {
        return places.positions(consumer);
    }

    public void close(long timeoutMs) {
        consumer.close(Duration.ofMillis(timeoutMs));
    }
}
