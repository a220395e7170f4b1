package streamgauge.media;

import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.IdleStrategy;

/**
 * For a media driver on few cores: spin, yield, then nap for longer and longer, up to 100 µs. Aeron's own backoff goes up to a
 * millisecond, and no property changes that.
 */
public final class ShortNaps implements IdleStrategy {
    private static final int SPINS = 10;
    private static final int YIELDS = 20;
    private static final long SHORTEST_NS = 1_000;
    private static final long LONGEST_NS = 100_000;

    private int idled;
    private long napNs = SHORTEST_NS;

    @Override
    public void idle(int workCount) {
        if (workCount > 0) {
            reset();
        } else {
            idle();
        }
    }

    @Override
    public void idle() {
        if (idled < SPINS) {
            idled++;
            Thread.onSpinWait();
        } else if (idled < SPINS + YIELDS) {
            idled++;
            Thread.yield();
        } else {
            LockSupport.parkNanos(napNs);
            napNs = Math.min(2 * napNs, LONGEST_NS);
        }
    }

    @Override
    public void reset() {
        idled = 0;
        napNs = SHORTEST_NS;
    }
}
