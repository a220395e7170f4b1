package streamgauge.transports;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Sends orders on schedule, in a thread of its own, and notes what became of each.
 *
 * <p>Rows lie in Python's memory, one a message: when it was sent, when it was taken, and the place where it lies.
 */
public final class OrderSender implements Outlet.Fates {
    private static final double NS_PER_S = 1e9;

    private final Orders orders;
    private final byte[] bytes = new byte[Orders.MOST_BYTES];
    private final AtomicLong settled = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();
    private final AtomicLong outstandingProbes = new AtomicLong();
    private Outlet outlet;
    private long alertNs;
    private LongBuffer sentNs;
    private LongBuffer ackedNs;
    private LongBuffer places;
    private volatile long total;
    private volatile long sent;
    private volatile int size;
    private volatile boolean stopping;
    private volatile boolean done = true;
    private volatile String failure;
    private volatile String firstError;
    private Thread thread;

    public OrderSender(Orders orders) {
        this.orders = orders;
        orders.rehearse();
    }

    /** Once, before anything else. */
    public void connect(Outlet through) {
        outlet = through;
    }

    public void setColumns(ByteBuffer sentNs, ByteBuffer ackedNs, ByteBuffer places) {
        this.sentNs = sentNs.order(ByteOrder.nativeOrder()).asLongBuffer();
        this.ackedNs = ackedNs.order(ByteOrder.nativeOrder()).asLongBuffer();
        this.places = places.order(ByteOrder.nativeOrder()).asLongBuffer();
    }

    /** Send one that nobody counts; was it taken? */
    public boolean probe(long sequence) {
        int length = orders.write(sequence, System.nanoTime(), bytes);
        outstandingProbes.incrementAndGet();
        long place = outlet.offer(sequence, bytes, length);
        if (place != Outlet.PENDING) {
            outstandingProbes.decrementAndGet();
        }
        return place != Outlet.REFUSED;
    }

    public boolean probesSettled() {
        return outstandingProbes.get() == 0;
    }

    /**
     * Message k is due k/rate after the start. Nothing is sent past the end. `alert`: how long before a message is due the
     * thread is awake, and yields: sleeping is not exact, and yielding takes a core's time from others.
     */
    public void begin(long startNs, double perSecond, long total, long endNs, long alert) {
        alertNs = alert;
        done = false;
        this.total = total;
        thread = new Thread(() -> run(startNs, perSecond, endNs), "streamgauge-sender");
        thread.setDaemon(true);
        thread.start();
    }

    /** While it goes on: it is so many in all, as far as there is room for their rows. */
    public void endAt(long messages) {
        total = Math.min(messages, sentNs.capacity());
    }

    private void run(long startNs, double perSecond, long endNs) {
        try {
            for (long k = 0; k < total && !stopping; k++) {
                long dueNs = startNs + (long) Math.rint(k / perSecond * NS_PER_S);
                orders.prepare(k, dueNs);
                awaitTime(Math.min(dueNs, endNs));
                if (k >= total) {
                    break; // that was said meanwhile
                }
                int length = orders.serialise(bytes);
                if (size != length) {
                    size = length;
                }
                if (!send(k, length, endNs)) {
                    break;
                }
            }
            outlet.flushSoon();
        } catch (RuntimeException broken) {
            failure = describe(broken);
        } finally {
            done = true;
        }
    }

    private boolean send(long k, int length, long endNs) {
        int row = (int) k;
        while (true) {
            long nowNs = System.nanoTime();
            if (nowNs >= endNs || stopping) {
                return false;
            }
            // Before the offer: an ack may be there before it returns.
            sentNs.put(row, nowNs);
            long place = outlet.offer(k, bytes, length);
            if (place == Outlet.REFUSED) {
                Thread.yield();
                continue;
            }
            if (place != Outlet.PENDING) {
                acked(k, place);
            }
            sent = k + 1;
            return true;
        }
    }

    private void awaitTime(long dueNs) {
        long left;
        while ((left = dueNs - System.nanoTime()) > 0 && !stopping) {
            if (left > alertNs) {
                LockSupport.parkNanos(left - alertNs);
            } else {
                Thread.yield();
            }
        }
    }

    @Override
    public void acked(long sequence, long place) {
        if (sequence < 0) {
            outstandingProbes.decrementAndGet();
            return;
        }
        places.put((int) sequence, place);
        ackedNs.put((int) sequence, System.nanoTime());
        settled.incrementAndGet();
    }

    @Override
    public void failed(long sequence, String why) {
        if (sequence < 0) {
            outstandingProbes.decrementAndGet();
            return;
        }
        if (firstError == null) {
            firstError = why;
        }
        places.put((int) sequence, -1);
        ackedNs.put((int) sequence, -System.nanoTime());
        failed.incrementAndGet();
        settled.incrementAndGet();
    }

    public long sent() {
        return sent;
    }

    public long settled() {
        return settled.get();
    }

    public long failedCount() {
        return failed.get();
    }

    public int size() {
        return size;
    }

    public boolean isDone() {
        return done;
    }

    /** Why it cannot go on, or null. */
    public String failure() {
        return failure;
    }

    /** Why the first failed message failed, or null. */
    public String firstError() {
        return firstError;
    }

    public void stop() {
        stopping = true;
    }

    public void close(long timeoutMs) throws InterruptedException {
        stopping = true;
        if (thread != null) {
            thread.join(timeoutMs);
        }
        outlet.close();
    }

    static String describe(Throwable broken) {
        return broken.getMessage() == null ? broken.getClass().getSimpleName() : broken.getMessage();
    }
}
