package guda

import (
	"os"
	"sync"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// MappedDataset is a file of numbers that is read where it lies: pages are read when they are used,
// so that the file may be larger than memory.
type MappedDataset struct {
	mutex  sync.Mutex
	memory *kernelmill.HostMemory[float32]
	data   []float32
}

// OpenMappedDataset maps a file of numbers, for copies to the current device. What is left over
// behind the last whole number is not seen.
func OpenMappedDataset(filename string) (*MappedDataset, error) {
	device, opened, err := openCurrent()
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(filename); err == nil && info.Mode().IsRegular() && info.Size() < 4 {
		return &MappedDataset{}, nil
	}
	mapped, err := kernelmill.MapHostFile[float32](opened, filename, 0, -1)
	if err != nil {
		return nil, device.done(err)
	}
	data, err := mapped.Data()
	if err != nil {
		_ = mapped.Close() // the first error is the one to know
		return nil, device.done(err)
	}
	return &MappedDataset{memory: mapped, data: data}, nil
}

// Len is how many numbers there are; 0 after Close.
func (d *MappedDataset) Len() int { return len(d.Data()) }

// Data is all numbers, until Close. They can be read, not written.
func (d *MappedDataset) Data() []float32 {
	if d == nil {
		return nil
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.data
}

// GetBatch is count numbers from the one at start on, without a copy; fewer where the file has not
// that many.
func (d *MappedDataset) GetBatch(start, count int) []float32 {
	data := d.Data()
	start = min(max(start, 0), len(data))
	return data[start : start+min(max(count, 0), len(data)-start)]
}

// Close ends the mapping. What was given out is not to be touched from then on. Closing twice is
// fine.
func (d *MappedDataset) Close() error {
	if d == nil {
		return noteInvalid("the data set is nil")
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.memory == nil {
		return nil
	}
	err := d.memory.Close()
	d.memory, d.data = nil, nil
	return err
}
