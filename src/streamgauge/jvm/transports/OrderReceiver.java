package streamgauge.transports;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Receives orders in a thread of its own; each is stamped when it has been parsed.
 *
 * <p>Rows lie in Python's memory, a ring of a fixed height: seven columns of longs (received, owner, sequence, intended,
 * place, the broker's time, and packed: size, kind of the broker's time, state). Probes are not among them.
 */
public final class OrderReceiver implements Inlet.Sink {
    private static final int COLUMNS = 7;

    private final Orders orders;
    private final Inlet inlet;
    private final Idling idling;
    private final long[] header = new long[3];
    private ByteBuffer rows;
    private int height;
    private volatile long head;
    private volatile long tail;
    private volatile long position;
    private volatile long probes;
    private volatile boolean ready;
    private volatile boolean stopping;
    private volatile String failure;
    private Thread thread;

    public OrderReceiver(Orders orders, Inlet inlet, Idling idling) {
        this.orders = orders;
        orders.rehearse();
        this.inlet = inlet;
        this.idling = idling;
    }

    public void begin(ByteBuffer memory) {
        rows = memory.order(ByteOrder.nativeOrder());
        height = memory.capacity() / (COLUMNS * Long.BYTES);
        thread = new Thread(this::run, "streamgauge-receiver");
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        try {
            while (!stopping) {
                int found = inlet.poll(this);
                if (found > 0) {
                    idling.worked();
                    continue;
                }
                if (!ready) {
                    ready = inlet.isReady();
                }
                idling.idle();
            }
        } catch (RuntimeException broken) {
            failure = OrderSender.describe(broken);
        } finally {
            inlet.close();
        }
    }

    @Override
    public void take(byte[] bytes, int length, long place, long brokerMs, int brokerTime) {
        orders.parse(bytes, length);
        long nowNs = System.nanoTime();
        header[0] = header[1] = header[2] = 0;
        int state = orders.check(header);
        position = place + 1;
        if (state == Orders.INTACT && header[1] < 0) {
            probes++;
            return;
        }
        // Python fetches rows many times a second; a full ring means that it is gone.
        while (head - tail == height && !stopping) {
            Thread.yield();
        }
        int row = (int) (head % height);
        put(0, row, nowNs);
        put(1, row, header[0]);
        put(2, row, header[1]);
        put(3, row, header[2]);
        put(4, row, place);
        put(5, row, brokerMs);
        put(6, row, (long) length << 16 | (long) brokerTime << 8 | state);
        head++;
    }

    private void put(int column, int row, long value) {
        rows.putLong((column * height + row) * Long.BYTES, value);
    }

    /** Rows that lie behind each other from the oldest one on. */
    public int available() {
        long first = tail;
        return (int) Math.min(head - first, height - first % height);
    }

    public int oldest() {
        return (int) (tail % height);
    }

    public void free(int count) {
        tail += count;
    }

    /** After the place of the last message. */
    public long position() {
        return position;
    }

    public long probes() {
        return probes;
    }

    public boolean isReady() {
        return ready;
    }

    public String failure() {
        return failure;
    }

    public void close(long timeoutMs) throws InterruptedException {
        stopping = true;
        if (thread != null) {
            thread.join(timeoutMs);
        }
    }
}
