package streamgauge.transports;

import java.util.concurrent.locks.LockSupport;

/** What a thread does that has found nothing to do. */
public final class Idling {
    private static final int YIELDS = 200;
    private static final long NAP_NS = 50_000;

    private final boolean naps;
    private final boolean yields;
    private int idle;

    /** spin: keeps its core; yield: lets others have it; backoff: yields for a while, then naps for 50 µs. */
    public Idling(String how) {
        naps = how.equals("backoff");
        yields = !how.equals("spin");
    }

    void worked() {
        idle = 0;
    }

    void idle() {
        if (naps && ++idle > YIELDS) {
            LockSupport.parkNanos(NAP_NS);
        } else if (yields) {
            Thread.yield();
        } else {
            Thread.onSpinWait();
        }
    }
}
