package streamgauge.transports;

/** Where orders go. One thread calls it. */
public interface Outlet extends AutoCloseable {
    /** Not taken: try again. */
    long REFUSED = -1;
    /** Taken; what became of it is told to {@link Fates} later. */
    long PENDING = -2;

    /** The place where it lies, or one of the above. The bytes may be used again afterwards. */
    long offer(long sequence, byte[] bytes, int length);

    /** Send without lingering whatever is there. */
    default void flushSoon() {}

    @Override
    void close();

    /** Told of messages that were PENDING, by any thread; probes have sequences below 0. */
    interface Fates {
        void acked(long sequence, long place);

        void failed(long sequence, String why);
    }
}
