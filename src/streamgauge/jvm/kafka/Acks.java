package streamgauge.kafka;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.kafka.clients.producer.RecordMetadata;

/**
 * What became of messages: written by Kafka's thread, fetched many at a time by Python's.
 *
 * <p>A fetch fills the buffer with columns of a fixed height: sequences (long), offsets (long), partitions (int).
 */
final class Acks {
    static final long UNKNOWN = -1;
    private static final int COLUMN_BYTES = 2 * Long.BYTES + Integer.BYTES;

    private long[] sequences = new long[1024];
    private long[] offsets = new long[1024];
    private int[] partitions = new int[1024];
    private int count;
    private List<String> errors = new ArrayList<>();
    private ByteBuffer output;
    private int height;

    synchronized void setOutput(ByteBuffer buffer) {
        output = buffer.order(ByteOrder.nativeOrder());
        height = buffer.capacity() / COLUMN_BYTES;
    }

    synchronized void add(long sequence, RecordMetadata metadata, Exception error) {
        if (count == sequences.length) {
            sequences = Arrays.copyOf(sequences, 2 * count);
            offsets = Arrays.copyOf(offsets, 2 * count);
            partitions = Arrays.copyOf(partitions, 2 * count);
        }
        sequences[count] = sequence;
        offsets[count] = error == null && metadata.hasOffset() ? metadata.offset() : UNKNOWN;
        partitions[count] = error == null ? metadata.partition() : (int) UNKNOWN;
        count++;
        if (error != null) {
            // Sequence and reason in one string: failures are rare, and one list crosses more easily than two.
            String why = error.getMessage() == null ? error.getClass().getSimpleName() : error.getMessage();
            errors.add(sequence + " " + why);
        }
        notifyAll();
    }

    /** Move what there is to the buffer, waiting for the first; how many rows, negative when some have failed. */
    synchronized int take(long timeoutNs) throws InterruptedException {
        long deadline = System.nanoTime() + timeoutNs;
        while (count == 0) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                return 0;
            }
            wait(left / 1_000_000, (int) (left % 1_000_000));
        }
        int taken = Math.min(count, height);
        output.clear();
        output.asLongBuffer().put(sequences, 0, taken);
        output.position(height * Long.BYTES).slice().order(ByteOrder.nativeOrder()).asLongBuffer()
                .put(offsets, 0, taken);
        output.position(2 * height * Long.BYTES).slice().order(ByteOrder.nativeOrder()).asIntBuffer()
                .put(partitions, 0, taken);
        count -= taken;
        System.arraycopy(sequences, taken, sequences, 0, count);
        System.arraycopy(offsets, taken, offsets, 0, count);
        System.arraycopy(partitions, taken, partitions, 0, count);
        return errors.isEmpty() ? taken : -taken;
    }

    /** The failures told so far, as "sequence reason". */
    synchronized String[] errors() {
        String[] told = errors.toArray(new String[0]);
        errors = new ArrayList<>();
        return told;
    }
}
