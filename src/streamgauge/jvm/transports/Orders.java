package streamgauge.transports;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import java.io.IOException;
import streamgauge.orders.OrderProto.Order;

/**
 * Orders to bytes and back, and their checksums; the twin of payload/orders.py.
 *
 * <p>An order is nine words: the four of the header, instrument, price, side and quantity, and two of the account.
 */
public final class Orders {
    static final int MOST_BYTES = 256;
    static final int INTACT = 0;
    static final int CORRUPT = 1;
    static final int UNEXPECTED = 2;
    private static final int REHEARSALS = 30_000;
    private static final int WORDS = 9;
    private static final int HEADER_WORDS = 4;
    private static final int CHECKSUM_WORD = 3;
    private static final int MIX_BITS = 29;
    private static final int INSTRUMENT_BYTES = 8;
    private static final int ACCOUNT_BYTES = 16;

    private final long owner;
    private final long[] weights;
    private final long lengthSum;
    private final String[] instruments;
    private final String[] accounts;
    private final long[] prices;
    private final int[] quantities;
    private final int[] sides;
    /** The words behind the header, of each order. */
    private final long[][] bodies;
    private final long[] words = new long[WORDS];
    private int number;
    private Order parsed;

    /** Columns of the orders that are sent over and over. */
    public Orders(
            long owner,
            long[] weights,
            long lengthSum,
            String[] instruments,
            int[] sides,
            long[] prices,
            int[] quantities,
            String[] accounts) {
        this.owner = owner;
        this.weights = weights;
        this.lengthSum = lengthSum;
        this.instruments = instruments;
        this.sides = sides;
        this.prices = prices;
        this.quantities = quantities;
        this.accounts = accounts;
        this.bodies = new long[prices.length][];
        for (int i = 0; i < prices.length; i++) {
            long sideAndQuantity = quantities[i] | (long) sides[i] << 32;
            long first = word(accounts[i], 0);
            bodies[i] = new long[] {word(instruments[i], 0), prices[i], sideAndQuantity, first, word(accounts[i], 8)};
        }
    }

    /** Write and read so many that Java has compiled both before anything is counted. */
    void rehearse() {
        byte[] bytes = new byte[MOST_BYTES];
        long[] header = new long[3];
        for (int sequence = 0; sequence < REHEARSALS; sequence++) {
            if (read(bytes, write(sequence, System.nanoTime(), bytes), header) != INTACT) {
                throw new IllegalStateException("an order that was just written cannot be read");
            }
        }
    }

    /** Make an order and serialise it; how many bytes that were. */
    int write(long sequence, long intendedNs, byte[] bytes) {
        prepare(sequence, intendedNs);
        return serialise(bytes);
    }

    /** Choose an order and sum it up, which no application would do: this is not to be in any latency. */
    void prepare(long sequence, long intendedNs) {
        number = (int) Math.floorMod(sequence, (long) prices.length);
        words[0] = owner;
        words[1] = sequence;
        words[2] = intendedNs;
        System.arraycopy(bodies[number], 0, words, HEADER_WORDS, WORDS - HEADER_WORDS);
        words[CHECKSUM_WORD] = checksum();
    }

    /** Build the order that was prepared, and serialise it; how many bytes that were. */
    int serialise(byte[] bytes) {
        Order order = Order.newBuilder()
                .setOwner(owner)
                .setSequence(words[1])
                .setIntendedNs(words[2])
                .setChecksum(words[CHECKSUM_WORD])
                .setInstrument(instruments[number])
                .setSideValue(sides[number])
                .setPrice(prices[number])
                .setQuantity(quantities[number])
                .setAccount(accounts[number])
                .build();
        try {
            CodedOutputStream out = CodedOutputStream.newInstance(bytes);
            order.writeTo(out);
            return out.getTotalBytesWritten();
        } catch (IOException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** Parse an order and check it; its header is written to `header`. */
    int read(byte[] bytes, int length, long[] header) {
        parse(bytes, length);
        return check(header);
    }

    /** Parse an order; `check` says what it is. */
    void parse(byte[] bytes, int length) {
        try {
            parsed = Order.parseFrom(CodedInputStream.newInstance(bytes, 0, length));
        } catch (IOException damaged) {
            parsed = null;
        }
    }

    /** Of the order just parsed: its header (owner, sequence, intended), and whether it is whole, and ours. */
    int check(long[] header) {
        Order order = parsed;
        if (order == null) {
            return UNEXPECTED;
        }
        String instrument = order.getInstrument();
        String account = order.getAccount();
        header[0] = words[0] = order.getOwner();
        header[1] = words[1] = order.getSequence();
        header[2] = words[2] = order.getIntendedNs();
        if ((int) order.getOwner() != (int) owner) {
            return UNEXPECTED;
        }
        if (instrument.length() != INSTRUMENT_BYTES || account.length() != ACCOUNT_BYTES) {
            return CORRUPT;
        }
        words[4] = word(instrument, 0);
        words[5] = order.getPrice();
        words[6] = Integer.toUnsignedLong(order.getQuantity()) | (long) order.getSideValue() << 32;
        words[7] = word(account, 0);
        words[8] = word(account, 8);
        return checksum() == order.getChecksum() ? INTACT : CORRUPT;
    }

    private long checksum() {
        long sum = lengthSum;
        for (int i = 0; i < WORDS; i++) {
            if (i != CHECKSUM_WORD) {
                sum += (words[i] ^ words[i] >>> MIX_BITS) * weights[i];
            }
        }
        return sum;
    }

    private static long word(String text, int from) {
        long word = 0;
        for (int i = 7; i >= 0; i--) {
            word = word << 8 | text.charAt(from + i) & 0xff;
        }
        return word;
    }
}
