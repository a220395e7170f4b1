package streamgauge.kafka;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.internals.RecordHeaders;

/**
 * A producer that takes many messages with one call.
 *
 * <p>Messages lie in one buffer that Python has written: lengths (int, -1 for none) of all values, of all keys, of all
 * header blocks; then the bytes of all values, of all keys, of all header blocks. A block is: number of headers,
 * then for each the length of its name, the length of its value, name, value.
 */
public final class BatchProducer {
    private final KafkaProducer<byte[], byte[]> producer;
    private final String[] topics;
    private final Acks acks = new Acks();
    private ByteBuffer input;

    public BatchProducer(Map<String, Object> config, String[] topics) {
        this.producer = new KafkaProducer<>(config);
        this.topics = topics;
    }

    /** Wait for the metadata of every topic, so that the first message need not. */
    public void connect() {
        for (String topic : topics) {
            producer.partitionsFor(topic);
        }
    }

    public void setInput(ByteBuffer buffer) {
        input = buffer.order(ByteOrder.nativeOrder());
    }

    public void setOutput(ByteBuffer buffer) {
        acks.setOutput(buffer);
    }

    public void send(int topic, long firstSequence, int count, int valueBytes, int keyBytes) {
        String name = topics[topic];
        int valueAt = 3 * count * Integer.BYTES;
        int keyAt = valueAt + valueBytes;
        int headersAt = keyAt + keyBytes;
        for (int row = 0; row < count; row++) {
            int valueLength = input.getInt(row * Integer.BYTES);
            int keyLength = input.getInt((count + row) * Integer.BYTES);
            int headersLength = input.getInt((2 * count + row) * Integer.BYTES);
            byte[] value = bytes(valueAt, valueLength);
            byte[] key = keyLength < 0 ? null : bytes(keyAt, keyLength);
            RecordHeaders headers = headersLength < 0 ? null : headers(headersAt);
            valueAt += valueLength;
            keyAt += Math.max(0, keyLength);
            headersAt += Math.max(0, headersLength);
            long sequence = firstSequence + row;
            try {
                producer.send(new ProducerRecord<>(name, null, null, key, value, headers), new Fate(acks, sequence));
            } catch (RuntimeException refused) {
                acks.add(sequence, null, refused);
            }
        }
    }

    private byte[] bytes(int at, int length) {
        byte[] copy = new byte[length];
        input.get(at, copy);
        return copy;
    }

    private RecordHeaders headers(int at) {
        RecordHeaders headers = new RecordHeaders();
        int count = input.getInt(at);
        at += Integer.BYTES;
        for (int i = 0; i < count; i++) {
            int nameLength = input.getInt(at);
            int valueLength = input.getInt(at + Integer.BYTES);
            at += 2 * Integer.BYTES;
            headers.add(new String(bytes(at, nameLength), StandardCharsets.UTF_8), bytes(at + nameLength, valueLength));
            at += nameLength + valueLength;
        }
        return headers;
    }

    /** See {@link Acks#take}. */
    public int takeAcks(long timeoutNs) throws InterruptedException {
        return acks.take(timeoutNs);
    }

    public String[] errors() {
        return acks.errors();
    }

    /** Send without lingering whatever is there; in a thread, since Kafka's own flush waits. */
    public void flushSoon() {
        Thread flushing = new Thread(producer::flush, "streamgauge-flush");
        flushing.setDaemon(true);
        flushing.start();
    }

    public void close(long timeoutMs) {
        producer.close(Duration.ofMillis(timeoutMs));
    }

    /** One a message: it only knows which. */
    private record Fate(Acks acks, long sequence) implements Callback {
        @Override
        public void onCompletion(RecordMetadata metadata, Exception error) {
            acks.add(sequence, metadata, error);
        }
    }
}
