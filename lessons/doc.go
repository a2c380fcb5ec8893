// Package lessons is the room for what is taught: lesson text, exercises and
// their graders, flashcards and walkthrough scripts. Nothing has moved in yet.
package lessons
