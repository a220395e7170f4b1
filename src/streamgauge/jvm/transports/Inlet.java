package streamgauge.transports;

/** Where orders come from. One thread calls it. */
public interface Inlet extends AutoCloseable {
    /** Hand over what is there, without waiting; how many that were. */
    int poll(Sink sink);

    /** Will whatever is sent from now on be received? */
    boolean isReady();

    @Override
    void close();

    /** Takes one message; the bytes are used again afterwards. */
    interface Sink {
        void take(byte[] bytes, int length, long place, long brokerMs, int brokerTime);
    }
}
