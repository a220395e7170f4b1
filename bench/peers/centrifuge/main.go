// Centrifuge, the library that Centrifugo is built on, as a server that pushes the same message to all.
//
//	centrifuge PORT RATE_PER_S BYTES [WRITE_DELAY_MS]
//
// With a delay, a connection's messages are collected for so long and written together, however many they are.
// Waits until a line comes in, and publishes until it is ended. A message is
// "@<10 digits: number>,<19 digits: when it was due, CLOCK_MONOTONIC ns>@" and filler.
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/centrifugal/centrifuge"
	"golang.org/x/sys/unix"
)

func monotonic() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		log.Fatal(err)
	}
	return t.Nano()
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	port, size := os.Args[1], number(os.Args[3])
	rate, err := strconv.ParseFloat(os.Args[2], 64)
	if err != nil {
		log.Fatal(err)
	}
	config, reply := centrifuge.Config{}, centrifuge.ConnectReply{Credentials: &centrifuge.Credentials{}}
	if len(os.Args) > 4 {
		// Its own settings for many messages to each connection; queues never so short that it gives up.
		reply.WriteDelay = time.Duration(number(os.Args[4])) * time.Millisecond
		reply.MaxMessagesInFrame = -1
		config.ClientQueueMaxSize = 64 << 20
	}
	node, err := centrifuge.New(config)
	if err != nil {
		log.Fatal(err)
	}
	node.OnConnecting(func(_ context.Context, _ centrifuge.ConnectEvent) (centrifuge.ConnectReply, error) {
		return reply, nil
	})
	node.OnConnect(func(client *centrifuge.Client) {
		client.OnSubscribe(func(_ centrifuge.SubscribeEvent, answer centrifuge.SubscribeCallback) {
			answer(centrifuge.SubscribeReply{}, nil)
		})
	})
	if err := node.Run(); err != nil {
		log.Fatal(err)
	}
	http.Handle("/connection/websocket", centrifuge.NewWebsocketHandler(node, centrifuge.WebsocketConfig{
		// The simulator does not answer pings.
		PingPongConfig: centrifuge.PingPongConfig{PingInterval: -1},
		CheckOrigin:    func(*http.Request) bool { return true },
	}))
	go func() { log.Fatal(http.ListenAndServe("127.0.0.1:"+port, nil)) }()
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return
	}
	filler := strings.Repeat("x", size-32)
	start := monotonic()
	for i := int64(0); ; i++ {
		due := start + int64(float64(i)*1e9/rate)
		if wait := due - monotonic(); wait > 0 {
			time.Sleep(time.Duration(wait))
		}
		data := fmt.Sprintf("\"@%010d,%019d@%s\"", i, due, filler)
		if _, err := node.Publish("bench", []byte(data)); err != nil {
			log.Fatal(err)
		}
	}
}
