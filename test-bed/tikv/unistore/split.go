package main

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"log"
	"net/http"
	"reflect"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/pingcap/badger"
	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/pingcap/kvproto/pkg/metapb"
	"github.com/pingcap/tidb/pkg/store/mockstore/unistore/tikv"
	"github.com/pingcap/tidb/pkg/store/mockstore/unistore/tikv/mvcc"
	"github.com/pingcap/tidb/pkg/util/codec"
)

// splitter splits regions in place of the store's own worker.  That one takes a
// key from 64 samples: where the last samples hold a third of the bytes it
// finds none and splits at the empty key, after which the placement driver has
// holes and overlaps for ever.  It also splits at an exact key when asked, which
// the store's SplitRegion call does not do.
type splitter struct {
	rm     *tikv.StandAloneRegionManager
	bundle *mvcc.DBBundle
	pd     *rememberingPD
	size   int64
	// checked is how far each region had grown when it was last looked at.
	checked map[uint64]int64
}

//go:linkname splitRegion github.com/pingcap/tidb/pkg/store/mockstore/unistore/tikv.(*StandAloneRegionManager).splitRegion
func splitRegion(rm *tikv.StandAloneRegionManager, region unsafe.Pointer, key []byte, size, left int64) error

// newSplitter takes the region manager and its data out of a server, which keeps
// them to itself.
func newSplitter(server *tikv.Server, pd *rememberingPD, size int64) *splitter {
	field := func(of any, name string) unsafe.Pointer {
		return reflect.ValueOf(of).Elem().FieldByName(name).Addr().UnsafePointer()
	}
	manager := *(*tikv.RegionManager)(field(server, "regionManager"))
	rm, ok := manager.(*tikv.StandAloneRegionManager)
	if !ok {
		log.Fatalf("the server's region manager is a %T", manager)
	}
	bundle := *(**mvcc.DBBundle)(field(rm, "bundle"))
	return &splitter{rm: rm, bundle: bundle, pd: pd, size: size, checked: map[uint64]int64{}}
}

func (s *splitter) run(every time.Duration) {
	for range time.Tick(every) {
		for _, meta := range s.pd.metas() {
			if err := s.splitLarge(meta); err != nil {
				log.Printf("split of region %d: %v", meta.Id, err)
			}
		}
	}
}

// region returns the store's own state of a region; nil if it has changed since.
func (s *splitter) region(meta *metapb.Region) tikv.RegionCtx {
	region, err := s.rm.GetRegionFromCtx(&kvrpcpb.Context{
		RegionId: meta.Id, RegionEpoch: meta.RegionEpoch, Peer: meta.Peers[0],
	})
	if err != nil {
		return nil
	}
	return region
}

// splitLarge splits a region in the middle of its bytes if it holds more than
// 1.5 times the size.
func (s *splitter) splitLarge(meta *metapb.Region) error {
	region := s.region(meta)
	if region == nil {
		return nil
	}
	grown := atomic.LoadInt64(region.Diff())
	if grown-s.checked[meta.Id] < s.size/4 {
		return nil
	}
	s.checked[meta.Id] = grown
	keys, total := s.keys(region)
	if total < s.size*3/2 {
		return nil
	}
	for _, k := range keys {
		if k.left >= total/2 && bytes.Compare(k.key, region.RawStart()) > 0 {
			delete(s.checked, meta.Id)
			return s.split(region, k.key, total, k.left)
		}
	}
	return nil
}

type keyAt struct {
	key  []byte
	left int64 // bytes before the key
}

func (s *splitter) keys(region tikv.RegionCtx) (keys []keyAt, total int64) {
	err := s.bundle.DB.View(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{})
		defer it.Close()
		for it.Seek(region.RawStart()); it.Valid(); it.Next() {
			item := it.Item()
			if end := region.RawEnd(); len(end) > 0 && bytes.Compare(item.Key(), end) >= 0 {
				break
			}
			keys = append(keys, keyAt{bytes.Clone(item.Key()), total})
			total += int64(len(item.Key()) + item.ValueSize())
		}
		return nil
	})
	if err != nil {
		log.Printf("keys of a region: %v", err)
	}
	return keys, total
}

func (s *splitter) split(region tikv.RegionCtx, key []byte, size, left int64) error {
	return splitRegion(s.rm, reflect.ValueOf(region).UnsafePointer(), key, size, left)
}

// ServeHTTP splits the region of a key at that key: /split?key=HEX
func (s *splitter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key, err := hex.DecodeString(r.URL.Query().Get("key"))
	if err == nil {
		err = s.splitAt(key)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprintln(w, "split")
}

func (s *splitter) splitAt(key []byte) error {
	encoded := codec.EncodeBytes(nil, key)
	for _, meta := range s.pd.metas() {
		after := len(meta.EndKey) == 0 || bytes.Compare(encoded, meta.EndKey) < 0
		if bytes.Compare(meta.StartKey, encoded) < 0 && after {
			if region := s.region(meta); region != nil {
				return s.split(region, key, 0, 0)
			}
		}
	}
	return errors.New("the key is the start of a region, or its region is changing")
}
