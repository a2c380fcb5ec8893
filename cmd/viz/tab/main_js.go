package main

import "github.com/tokenbytoken/viz/web/tab"

func main() { tab.Run() }
