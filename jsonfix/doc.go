// Package jsonfix turns what a language model said into the JSON it was asked
// for, or refuses with a reason.
//
// Valid JSON comes back as the same slice, untouched. Otherwise a repair only
// deletes noise outside strings, inserts a delimiter that was owed, or spells
// a token in another way without changing its value. It never makes up a
// value: what has none is dropped and reported. Two plausible readings are a
// refusal. Input that ends before its root closed is always marked as
// truncated. Repairs that lose something are a class of their own, which
// [Options.Strict] refuses.
//
// The input is scanned strictly first, eight bytes at a time inside strings;
// at the first error the scanner hands its state to a repair machine, which
// mends one member and hands back. Both work without recursion and in linear
// time; nesting is limited to [MaxDepth].
//
// With a [Schema], candidates are chosen and spots re-spelled so that the
// document follows it, as long as nothing is lost and one way fits; what does
// not follow is listed by JSON Pointer.
//
// Stability: stable; codes and reasons may be added.
package jsonfix
