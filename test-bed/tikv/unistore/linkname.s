// This file makes the compiler accept a function without a body: splitRegion in split.go.
