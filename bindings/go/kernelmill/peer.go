package kernelmill

import (
	"runtime"
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// CanAccessPeer says whether kernels of the device can be given memory of another one.
func (d *Device) CanAccessPeer(peer *Device) (bool, error) {
	var can uint32
	err := d.base().callWith("Device.CanAccessPeer", peer.base(), "the peer",
		func(id, peer uint64) *raw.Failure {
			return raw.Km_device_can_access_peer(id, peer, unsafe.Pointer(&can))
		})
	return can != 0, err
}

// EnablePeerAccess lets kernels of the context use slices of another one. Work of the two is ordered
// by events.
func (c *Context) EnablePeerAccess(peer *Context) error {
	return c.base().callWith("Context.EnablePeerAccess", peer.base(), "the peer",
		raw.Km_context_enable_peer_access)
}

// DisablePeerAccess ends what EnablePeerAccess began, for later launches.
func (c *Context) DisablePeerAccess(peer *Context) error {
	return c.base().callWith("Context.DisablePeerAccess", peer.base(), "the peer",
		raw.Km_context_disable_peer_access)
}

// CopyFromPeer copies all elements of a slice that may be of another context or device of the same
// backend to the beginning of this one, in the order of the stream.
func (s *Slice[T]) CopyFromPeer(stream *Stream, source *Slice[T]) error {
	const op = "Slice.CopyFromPeer"
	sourceID, err := source.base().useArgument(op, "the source")
	if err != nil {
		return err
	}
	err = s.base().callWith(op, stream.base(), "the stream", func(id, stream uint64) *raw.Failure {
		return raw.Km_slice_copy_peer(stream, id, 0, sourceID, 0, source.sizeBytes())
	})
	runtime.KeepAlive(source)
	return err
}

// CopyPeerAddress copies bytes between device addresses of two contexts, which may be the same, in
// the order of the stream.
func (s *Stream) CopyPeerAddress(destinationContext *Context, destination uint64,
	sourceContext *Context, source, sizeBytes uint64) error {
	const op = "Stream.CopyPeerAddress"
	from, err := sourceContext.base().useArgument(op, "the source's context")
	if err != nil {
		return err
	}
	err = s.base().callWith(op, destinationContext.base(), "the destination's context",
		func(stream, to uint64) *raw.Failure {
			return raw.Km_memory_copy_peer(stream, to, destination, from, source, sizeBytes)
		})
	runtime.KeepAlive(sourceContext)
	return err
}
