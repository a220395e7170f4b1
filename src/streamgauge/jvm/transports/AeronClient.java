package streamgauge.transports;

import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.Subscription;
import io.aeron.exceptions.DriverTimeoutException;

/** One connection to a media driver. What goes wrong in its own thread is kept here, instead of ending the process. */
public final class AeronClient implements AutoCloseable {
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

    /** Raises why this client is of no use any more. */
    void check() {
        if (aeron.isClosed()) {
            throw new IllegalStateException(failure == null ? "the Aeron client is closed" : failure);
        }
    }

    /** The same for Python: null while all is well. */
    public String failure() {
        return aeron.isClosed() ? (failure == null ? "the Aeron client is closed" : failure) : null;
    }

    @Override
    public void close() {
        aeron.close();
    }
}
