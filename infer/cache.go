package infer

import "github.com/tokenbytoken/viz/infer/checkpoint"

// bytesPerValue is the size of a cached number: keys and values are float32.
const bytesPerValue = 4

// Cache holds the keys and values of one text, for every block and position read so far. Only one
// goroutine at a time may use it.
//
// Caching them is correct because of causal masking: later tokens cannot change the values computed
// for a position.
type Cache struct {
	width     int         // kvHeads·headDim
	keys      [][]float32 // per block [positions, kvHeads, headDim], rotated
	values    [][]float32 // per block [positions, kvHeads, headDim]
	positions int
	limit     int // the context window
}

// NewCache returns an empty cache for one text.
func (m *Model) NewCache() *Cache { return newCache(m.config) }

func newCache(c checkpoint.Config) *Cache {
	return &Cache{
		width: c.KVHeads * c.HeadDim,
		keys:  make([][]float32, c.Layers), values: make([][]float32, c.Layers),
		limit: c.Context,
	}
}

// Positions returns the number of filled columns.
func (c *Cache) Positions() int { return c.positions }

// Bytes returns the size of the filled columns in bytes: 2 × layers × kvHeads × headDim × positions
// × 4.
func (c *Cache) Bytes() int64 {
	return 2 * int64(len(c.keys)) * int64(c.width) * int64(c.positions) * bytesPerValue
}

// Reserved returns the allocated memory, filled or not, in bytes.
func (c *Cache) Reserved() int64 {
	var n int64
	for i := range c.keys {
		n += int64(cap(c.keys[i])) + int64(cap(c.values[i]))
	}
	return n * bytesPerValue
}

// Truncate drops the column at position n and all later columns.
func (c *Cache) Truncate(n int) {
	if n < c.positions {
		c.positions = n
	}
}

// Column returns copies of the keys and values of a past position in one block, each [kvHeads,
// headDim].
func (c *Cache) Column(block, position int) (key, value []float32) {
	from, to := position*c.width, (position+1)*c.width
	return append(key, c.keys[block][from:to]...), append(value, c.values[block][from:to]...)
}

// upTo returns a cache with the first n columns. The result shares their memory with c; adding a
// column to the result first copies them.
func (c *Cache) upTo(n int) *Cache {
	view := &Cache{width: c.width, positions: n, limit: c.limit}
	for i := range c.keys {
		view.keys = append(view.keys, c.keys[i][:n*c.width:n*c.width])
		view.values = append(view.values, c.values[i][:n*c.width:n*c.width])
	}
	return view
}

// reserve makes room for n positions. It doubles the capacity, so the amortized cost of copying is
// constant per column, even if the cache grows token by token.
func (c *Cache) reserve(n int) {
	for i := range c.keys {
		if want := n * c.width; cap(c.keys[i]) < want {
			room := min(max(want, 2*cap(c.keys[i])), c.limit*c.width)
			c.keys[i] = append(make([]float32, 0, room), c.keys[i]...)
			c.values[i] = append(make([]float32, 0, room), c.values[i]...)
		}
		c.keys[i] = c.keys[i][:n*c.width]
		c.values[i] = c.values[i][:n*c.width]
	}
}
