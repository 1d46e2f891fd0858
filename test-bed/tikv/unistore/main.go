// Command unistorebed runs one TiKV-compatible store (TiDB's unistore, on
// badger) behind gRPC, registered with a real Placement Driver.  Test bed only.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"maps"
	"math"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/pingcap/kvproto/pkg/errorpb"
	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/pingcap/kvproto/pkg/metapb"
	"github.com/pingcap/kvproto/pkg/pdpb"
	"github.com/pingcap/kvproto/pkg/tikvpb"
	plog "github.com/pingcap/log"
	"github.com/pingcap/tidb/pkg/store/mockstore/unistore/config"
	"github.com/pingcap/tidb/pkg/store/mockstore/unistore/pd"
	"github.com/pingcap/tidb/pkg/store/mockstore/unistore/server"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
)

// rememberingPD repeats the latest heartbeat of every region: the standalone
// store reports a region only at start and at a split, but PD forgets leaders
// when it restarts.
type rememberingPD struct {
	pd.Client
	mu   sync.Mutex
	last map[uint64]*pdpb.RegionHeartbeatRequest
}

func (p *rememberingPD) ReportRegion(r *pdpb.RegionHeartbeatRequest) {
	p.mu.Lock()
	p.last[r.GetRegion().GetId()] = r
	p.mu.Unlock()
	p.Client.ReportRegion(r)
}

// metas returns every region as it was last reported.
func (p *rememberingPD) metas() []*metapb.Region {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]*metapb.Region, 0, len(p.last))
	for _, r := range p.last {
		all = append(all, r.GetRegion())
	}
	return all
}

func (p *rememberingPD) repeat(every time.Duration) {
	for range time.Tick(every) {
		p.mu.Lock()
		all := make([]*pdpb.RegionHeartbeatRequest, 0, len(p.last))
		for _, r := range p.last {
			c := *r // the client writes the header into it
			all = append(all, &c)
		}
		p.mu.Unlock()
		for _, r := range all {
			p.Client.ReportRegion(r)
		}
	}
}

// faults is switched over HTTP: /fault?method=KvCommit&mode=drop-after&n=1
// Modes: drop-before, drop-after (the handler ran, the answer is lost), busy,
// not-leader, delay (ms=500).
type faults struct {
	mu           sync.Mutex
	method, mode string
	left         int
	delay        time.Duration
}

func (f *faults) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	n, _ := strconv.Atoi(q.Get("n"))
	ms, _ := strconv.Atoi(q.Get("ms"))
	f.mu.Lock()
	defer f.mu.Unlock()
	if q.Get("mode") != "" {
		f.method, f.mode, f.left, f.delay = q.Get("method"), q.Get("mode"), n, time.Duration(ms)*time.Millisecond
	}
	fmt.Fprintf(w, "%s %s left=%d\n", f.method, f.mode, f.left)
}

func (f *faults) take(full string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left > 0 && strings.HasSuffix(full, "/"+f.method) {
		f.left--
		return f.mode
	}
	return ""
}

// calls counts what clients asked the store, by method; /calls prints it.
type calls struct {
	mu     sync.Mutex
	counts map[string]int
}

func (c *calls) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, method := range slices.Sorted(maps.Keys(c.counts)) {
		fmt.Fprintf(w, "%s %d\n", method, c.counts[method])
	}
}

func (c *calls) intercept(ctx context.Context, req any, info *grpc.UnaryServerInfo, h grpc.UnaryHandler) (any, error) {
	c.mu.Lock()
	c.counts[info.FullMethod[strings.LastIndex(info.FullMethod, "/")+1:]]++
	c.mu.Unlock()
	return h(ctx, req)
}

func (f *faults) intercept(ctx context.Context, req any, info *grpc.UnaryServerInfo, h grpc.UnaryHandler) (any, error) {
	mode := f.take(info.FullMethod)
	regionErr := func(e *errorpb.Error) (any, error) {
		switch req.(type) {
		case *kvrpcpb.GetRequest:
			return &kvrpcpb.GetResponse{RegionError: e}, nil
		case *kvrpcpb.ScanRequest:
			return &kvrpcpb.ScanResponse{RegionError: e}, nil
		case *kvrpcpb.PrewriteRequest:
			return &kvrpcpb.PrewriteResponse{RegionError: e}, nil
		case *kvrpcpb.CommitRequest:
			return &kvrpcpb.CommitResponse{RegionError: e}, nil
		}
		return h(ctx, req)
	}
	switch mode {
	case "drop-before":
		return nil, status.Error(codes.Unavailable, "injected: dropped before")
	case "drop-after":
		_, _ = h(ctx, req)
		return nil, status.Error(codes.Unavailable, "injected: dropped after")
	case "busy":
		return regionErr(&errorpb.Error{Message: "injected", ServerIsBusy: &errorpb.ServerIsBusy{Reason: "injected"}})
	case "not-leader":
		c := req.(interface{ GetContext() *kvrpcpb.Context }).GetContext()
		return regionErr(&errorpb.Error{Message: "injected", NotLeader: &errorpb.NotLeader{RegionId: c.GetRegionId()}})
	case "delay":
		time.Sleep(f.delay)
	}
	return h(ctx, req)
}

// reverseScan answers a reverse scan by a forward one over the same range: the
// store's own reverse scan makes its iterator before it sets the read
// timestamp, so it reads the newest versions whatever snapshot was asked for.
func reverseScan(ctx context.Context, req any, _ *grpc.UnaryServerInfo, h grpc.UnaryHandler) (any, error) {
	s, ok := req.(*kvrpcpb.ScanRequest)
	if !ok || !s.Reverse {
		return h(ctx, req)
	}
	fwd := *s
	fwd.Reverse, fwd.StartKey, fwd.EndKey, fwd.Limit = false, s.EndKey, s.StartKey, math.MaxInt32
	resp, err := h(ctx, &fwd)
	if r, ok := resp.(*kvrpcpb.ScanResponse); ok && err == nil {
		slices.Reverse(r.Pairs)
		if len(r.Pairs) > int(s.Limit) {
			r.Pairs = r.Pairs[:s.Limit]
		}
	}
	return resp, err
}

// notFound fills in GetResponse.NotFound, which this store never sets.
func notFound(ctx context.Context, req any, _ *grpc.UnaryServerInfo, h grpc.UnaryHandler) (any, error) {
	resp, err := h(ctx, req)
	if g, ok := resp.(*kvrpcpb.GetResponse); ok && err == nil && g.Error == nil && g.RegionError == nil && len(g.Value) == 0 {
		g.NotFound = true
	}
	return resp, err
}

// printFreePorts holds all listeners until the last port is found, so that no port comes twice.
func printFreePorts(n int) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			log.Fatal(err)
		}
		defer l.Close()
		fmt.Println(l.Addr().(*net.TCPAddr).Port)
	}
}

func main() {
	addr := flag.String("addr", "127.0.0.1:20160", "address to listen on and to register")
	pdAddr := flag.String("pd", "127.0.0.1:2379", "PD client address")
	dir := flag.String("dir", "", "data directory (must exist)")
	regionSize := flag.Int64("region-size", 256<<10, "bytes; a region splits at 1.5 times this")
	fsync := flag.Bool("fsync", false, "sync every write")
	fixGet := flag.Bool("fix-not-found", true, "set not_found on a Get that found nothing")
	repeat := flag.Duration("region-heartbeat", time.Second, "0 turns repeated region heartbeats off")
	fixRev := flag.Bool("fix-reverse", true, "answer reverse scans by forward ones (see reverseScan)")
	ctl := flag.String("ctl", "", "address of the fault switch (HTTP)")
	level := flag.String("log-level", "warn", "log level")
	ports := flag.Int("free-ports", 0, "print so many free loopback ports and end")
	flag.Parse()
	if *ports > 0 {
		printFreePorts(*ports)
		return
	}

	lg, props, err := plog.InitLogger(&plog.Config{Level: *level})
	if err != nil {
		log.Fatal(err)
	}
	plog.ReplaceGlobals(lg, props)

	conf := config.DefaultConf
	conf.Server.PDAddr, conf.Server.StoreAddr = *pdAddr, *addr
	conf.Server.RegionSize = math.MaxInt64 / 4 // see splitter
	conf.Server.Raft = false
	conf.Engine.DBPath = *dir
	conf.Engine.SyncWrite = *fsync
	if err := os.MkdirAll(*dir+"/kv", 0o755); err != nil {
		log.Fatal(err)
	}

	base, err := pd.NewClient([]string{*pdAddr}, "unistorebed")
	if err != nil {
		log.Fatal(err)
	}
	pdc := &rememberingPD{Client: base, last: map[uint64]*pdpb.RegionHeartbeatRequest{}}
	store, err := server.New(&conf, pdc)
	if err != nil {
		log.Fatal(err)
	}
	regions := newSplitter(store, pdc, *regionSize)
	go regions.run(time.Second)
	if *repeat > 0 {
		go pdc.repeat(*repeat)
	}

	opts := []grpc.ServerOption{
		grpc.MaxRecvMsgSize(64 << 20),
		grpc.MaxSendMsgSize(64 << 20),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: time.Second, PermitWithoutStream: true}),
	}
	var chain []grpc.UnaryServerInterceptor
	if *ctl != "" {
		f := &faults{}
		counted := &calls{counts: map[string]int{}}
		chain = append(chain, counted.intercept, f.intercept)
		mux := http.NewServeMux()
		mux.Handle("/fault", f)
		mux.Handle("/calls", counted)
		mux.Handle("/split", regions)
		go func() { log.Fatal(http.ListenAndServe(*ctl, mux)) }()
	}
	if *fixGet {
		chain = append(chain, notFound)
	}
	if *fixRev {
		chain = append(chain, reverseScan)
	}
	opts = append(opts, grpc.ChainUnaryInterceptor(chain...))
	g := grpc.NewServer(opts...)
	tikvpb.RegisterTikvServer(g, store)
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-stop
		g.Stop()
	}()
	log.Printf("unistorebed: listening on %s", *addr)
	if err := g.Serve(l); err != nil {
		log.Print(err)
	}
	store.Stop()
	pdc.Close()
}
