package streamgauge.transports;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Hands over many messages of several streams with one call, for Python.
 *
 * <p>A poll fills Python's memory with columns of a fixed height: places (long), lengths (int), numbers of their inlets (int);
 * then the bytes of all messages, one behind the other.
 */
public final class BatchReceiver implements Inlet.Sink {
    private static final int ROW_BYTES = Long.BYTES + 2 * Integer.BYTES;

    private final Inlet[] inlets;
    private final Idling idling;
    private final int height;
    private final int mostBytes;
    private final long[] positions;
    private ByteBuffer memory;
    private int inlet;
    private int count;
    private int at;

    /** `mostBytes`: what one poll hands over at the most, unless a single message is larger. */
    public BatchReceiver(Inlet[] inlets, Idling idling, int height, int mostBytes) {
        this.inlets = inlets;
        this.idling = idling;
        this.height = height;
        this.mostBytes = mostBytes;
        this.positions = new long[inlets.length];
    }

    /** Room for `height` rows, `mostBytes`, and what one more poll of an inlet may bring. */
    public void setMemory(ByteBuffer memory) {
        this.memory = memory.order(ByteOrder.nativeOrder());
    }

    /** How many came; waits for the first. */
    public int poll(long timeoutNs) {
        long deadline = System.nanoTime() + timeoutNs;
        count = 0;
        at = height * ROW_BYTES;
        while (true) {
            for (inlet = 0; inlet < inlets.length; inlet++) {
                // One fetch brings up to 64 messages: stop while they still fit.
                while (count < height - 64 && at < mostBytes && inlets[inlet].poll(this) > 0) {}
            }
            if (count > 0) {
                idling.worked();
                return count;
            }
            if (System.nanoTime() >= deadline) {
                return 0;
            }
            idling.idle();
        }
    }

    @Override
    public void take(byte[] bytes, int length, long place, long brokerMs, int brokerTime) {
        memory.putLong(count * Long.BYTES, place);
        memory.putInt(height * Long.BYTES + count * Integer.BYTES, length);
        memory.putInt(height * (Long.BYTES + Integer.BYTES) + count * Integer.BYTES, inlet);
        memory.put(at, bytes, 0, length);
        at += length;
        count++;
        positions[inlet] = place + 1;
    }

    /** By inlet: after the place of its last message. */
    public long position(int number) {
        return positions[number];
    }

    public boolean isReady() {
        for (Inlet one : inlets) {
            if (!one.isReady()) {
                return false;
            }
        }
        return true;
    }

    public void close() {
        for (Inlet one : inlets) {
            one.close();
        }
    }
}
