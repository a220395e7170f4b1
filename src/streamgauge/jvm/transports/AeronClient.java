package streamgauge.transports;

import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.Subscription;
import io.aeron.exceptions.DriverTimeoutException;
import java.util.concurrent.locks.LockSupport;

/** One connection to a media driver. What goes wrong in its own thread is kept here, instead of ending the process. */
public final class AeronClient implements AutoCloseable {
    private static final long PATIENCE_NS = 1_000_000_000;
    private static final long LOOK_NS = 1_000_000;

    private final Aeron aeron;
    private volatile String failure;

    public AeronClient(String directory, long driverTimeoutMs) {
        Aeron.Context context = new Aeron.Context()
                .aeronDirectoryName(directory)
                .driverTimeoutMs(driverTimeoutMs)
                .errorHandler(this::remember)
                .subscriberErrorHandler(this::remember);
        aeron = Aeron.connect(context);
    }

    private void remember(Throwable broken) {
        if (failure == null) {
            String said = OrderSender.describe(broken);
            failure = broken instanceof DriverTimeoutException ? "the media driver is gone: " + said : said;
        }
    }

    public ExclusivePublication publish(String channel, int stream) {
        return aeron.addExclusivePublication(channel, stream);
    }

    public Subscription subscribe(String channel, int stream) {
        return aeron.addSubscription(channel, stream);
    }

    /** Why what was `closed` by nobody here is closed: the client's own thread says so a moment later. */
    IllegalStateException whyClosed(String closed) {
        long deadline = System.nanoTime() + PATIENCE_NS;
        while (failure == null && System.nanoTime() < deadline) {
            LockSupport.parkNanos(LOOK_NS);
        }
        return new IllegalStateException(failure == null ? closed + " is closed" : failure);
    }

    @Override
    public void close() {
        aeron.close();
    }
}
