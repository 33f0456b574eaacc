package main

import "fmt"

type Point struct {
	X, Y int
}

type Reader interface {
	Read(p []byte) (int, error)
}

type (
	A struct {
		x int
	}
	B int
)

type ID string

// func fake() {
func (p *Point) Move(dx int,
	dy int) (err error) {
	s := `func raw() {`
	f := func() { fmt.Println("}") }
	go func() {
	}()
	return nil
}

func Map[T any](xs []T) []T {
	return xs
}

func main() { fmt.Println('{') }
