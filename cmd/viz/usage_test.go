package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBadInput: every error in a command line gives exit code 2, no standard
// output, and a message that names the flag and the allowed range.
// Promise: A usage error exits with status 2, prints nothing on stdout, and names the flag and its allowed values.
func TestBadInput(t *testing.T) {
	broken := t.TempDir()
	for name, text := range map[string]string{
		"config.json": `{"architectures": ["LlamaForCausalLM"]`, "tokenizer.json": "{}", "model.safetensors": "",
	} {
		if err := os.WriteFile(filepath.Join(broken, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(broken, "config.json")
	empty := t.TempDir()
	trace := func(args ...string) []string { return append([]string{"trace", "-prompt", "Hello"}, args...) }
	for _, c := range []struct {
		args []string
		want []string // the message must contain each of these
	}{
		{trace("-temp", "-0.1"), []string{"-temp", `"-0.1"`, "0 (greedy) to 100"}},
		{trace("-temp", "NaN"), []string{"-temp", "0 (greedy) to 100"}},
		{trace("-temp", "+Inf"), []string{"-temp", "0 (greedy) to 100"}},
		{trace("-temp", "warm"), []string{"-temp", `"warm"`, "0 (greedy) to 100"}},
		{trace("-top-p", "0"), []string{"-top-p", "above 0, up to 1"}},
		{trace("-top-p", "1.5"), []string{"-top-p", "above 0, up to 1"}},
		{trace("-top-k", "-1"), []string{"-top-k", "0 (off) or more"}},
		{trace("-top-k", "1.5"), []string{"-top-k", "0 (off) or more"}},
		{trace("-min-p", "2"), []string{"-min-p", "0 (off) to 1"}},
		{trace("-min-p", "-0.5"), []string{"-min-p", "0 (off) to 1"}},
		{trace("-seed", "-1"), []string{"-seed", "0 to 9007199254740991"}},
		{trace("-seed", "9007199254740992"), []string{"-seed", "0 to 9007199254740991"}},
		{trace("-n", "0"), []string{"-n", "1 to 1,000,000"}},
		{trace("-n", "99999999999999999999"), []string{"-n", "1 to 1,000,000"}},
		{trace("-stop", ""), []string{"-stop", "1 to 100 bytes"}},
		{trace("-stop", "\xff"), []string{"-stop", "1 to 100 bytes"}},
		{trace("-stop", strings.Repeat("x", 101)), []string{"-stop", "1 to 100 bytes"}},
		{trace(strings.Fields(strings.Repeat("-stop x ", 9))...), []string{"-stop", "at most 8"}},
		{trace("-rows", "-1"), []string{"-rows", "0 (the whole vocabulary) or more"}},
		{trace("-json=perhaps"), []string{"-json", "true or false"}},
		{trace("-temp"), []string{"-temp", "needs an argument"}},
		{trace("-colour"), []string{"-colour", "not defined"}},
		{trace("more"), []string{`"more"`, "only flags"}},
		{[]string{"why"}, []string{"-prompt", "missing", "1 to 262144 bytes"}},
		{[]string{"why", "-prompt", "a", "-off", "L9"}, []string{"-off", `"L9"`, "L1 to L6"}},
		{[]string{"why", "-prompt", "a", "-off", "pos:1"}, []string{"-off", "pos:1 is not an earlier position"}},
		{[]string{"why", "-prompt", "a", "-token", "a b c"}, []string{"-token", "a single token, or # and its number"}},
		{[]string{"why", "-prompt", "a", "-over", "#5000"}, []string{"-over", "#0 to #4095"}},
		{[]string{"why", "-prompt", "a", "-patch", "a b"}, []string{"-patch", "they must have the same number"}},
		{[]string{"why", "more"}, []string{`"more"`, "only flags"}},
		{trace("-model", filepath.Join(empty, "none")), []string{"-model", "no such file or folder", "config.json"}},
		{trace("-model", file), []string{"-model", "config.json", "is part of a model"}},
		{trace("-model", empty), []string{"-model", "config.json", "must be a folder with"}},
		{trace("-model", broken), []string{"-model", "config.json"}},
		{[]string{"trace"}, []string{"-prompt", "missing", "1 to 262144 bytes"}},
		// This model has no start token.
		{
			[]string{"trace", "-prompt", "", "-model", filepath.Join(modelsFolder, "qwen2")},
			[]string{"-prompt", "empty", "1 to 262144 bytes"},
		},
		{
			[]string{"trace", "-prompt", strings.Repeat("x", 256<<10+1)},
			[]string{"-prompt", "262145 bytes", "1 to 262144 bytes"},
		},
		{[]string{"trace", "-prompt", strings.Repeat(" x", 600)}, []string{"-prompt", "tokens", "at most 512 tokens"}},
		{[]string{"trace", "-prompt", "ab\xffc"}, []string{"-prompt", "not valid UTF-8 at byte 2", "1 to 262144"}},
		{trace("-logit-bias", "99999:5"), []string{"-logit-bias", "set for token 99999", "from 0 to 4095"}},
		{[]string{"trace", "-prompt", "a\x00b"}, []string{"-prompt", "NUL"}},
		{
			[]string{"paint"},
			[]string{
				`"paint"`,
				"serve, trace, why, score, inspect, bench, lab, load, lessons, rooms, check, backup, data, site, " +
					"notices and version",
			},
		},
		{[]string{"site", "-out", empty}, []string{"-program FILE and -out DIR"}},
		{[]string{"site", "-out", empty, "-program", file}, []string{"-program", "not a WebAssembly file", "GOOS=js"}},
		{[]string{"site", "-base-url", "example.org"}, []string{"-base-url", "https://example.org/course/"}},
		{[]string{"bench", "-quants", "none,int4"}, []string{"-quants", `"none", "int8" or "none,int8"`}},
		{[]string{"bench", "-threads", "0"}, []string{"-threads", "1 to 256"}},
		{[]string{"bench", "-texts", "1,,2"}, []string{"-texts", "1 to 256"}},
		{[]string{"bench", "-n", "0"}, []string{"-n", "a positive integer"}},
		{[]string{"bench", "-n", "513"}, []string{"513", "1 to 512"}},
		{[]string{"bench", "-time", "soon"}, []string{"-time", "500ms"}},
		{trace("-quant", "int4"), []string{"-quant", "none or int8"}},
		{[]string{"-colour"}, []string{"-colour", "not defined"}},
		{[]string{"serve", "more"}, []string{`"more"`, "only flags"}},
		{[]string{"serve", "-addr", "8080"}, []string{"-addr", `"8080"`, "HOST:PORT"}},
		{[]string{"serve", "-addr", ""}, []string{"-addr", "HOST:PORT"}},
		{[]string{"serve", "-addr", "127.0.0.1:65536"}, []string{"-addr", "0 to 65535"}},
		{[]string{"serve", "-addr", "127.0.0.1:http"}, []string{"-addr", "0 to 65535"}},
		{[]string{"serve", "-metrics", "9464"}, []string{"-metrics", `"9464"`, "HOST:PORT"}},
		{[]string{"serve", "-metrics", "127.0.0.1:70000"}, []string{"-metrics", "0 to 65535"}},
		{[]string{"serve", "-no-open=2"}, []string{"-no-open", "true or false"}},
		{[]string{"serve", "-allow-host", "http://a.example"}, []string{"-allow-host", "a.example", "HOST:PORT"}},
		{[]string{"serve", "-allow-host", "a.example,,b"}, []string{"-allow-host", "HOST:PORT"}},
		{[]string{"serve", "-public-url", "class.example"}, []string{"-public-url", "https://HOST"}},
		{[]string{"serve", "-public-url", "https://class.example/room"}, []string{"-public-url", "nothing after it"}},
		{
			[]string{"serve", "-public-url", "https://me:secret@class.example"},
			[]string{"-public-url", "nothing after it"},
		},
		{[]string{"serve", "-trusted-proxy", "proxy.example"}, []string{"-trusted-proxy", "10.0.0.0/8"}},
		{[]string{"serve", "-data-limit", "15MiB"}, []string{"-data-limit", "from 16MiB to 1TiB"}},
		{[]string{"serve", "-data-limit", "2"}, []string{"-data-limit", "2GiB"}},
		{[]string{"serve", "-data-limit", "2TiB"}, []string{"-data-limit", "must be none"}},
		{[]string{"serve", "-data-limit", "NaNGiB"}, []string{"-data-limit", "must be none"}},
		{[]string{"serve", "-room-ttl", "30"}, []string{"-room-ttl", "between 1h and 400d"}},
		{[]string{"serve", "-room-ttl", "401d"}, []string{"-room-ttl", "between 1h and 400d"}},
		{[]string{"serve", "-room-ttl", "59m"}, []string{"-room-ttl", "between 1h and 400d"}},
		{[]string{"serve", "-tls-cert", file}, []string{"-tls-cert", "-tls-key"}},
		{[]string{"serve", "-tls-key", file}, []string{"-tls-key", "-tls-cert"}},
		{[]string{"serve", "-tls-cert", file, "-tls-key", file}, []string{"-tls-cert", "config.json", "-tls-key"}},
		{[]string{"load", "-followers", "0"}, []string{"-followers", "between 1 and 20000"}},
		{[]string{"load", "-rooms", "21"}, []string{"-rooms", "between 1 and 20"}},
		{[]string{"load", "-followers", "5", "-deaf", "5"}, []string{"-deaf 5", "number of phones in a room (5)"}},
		{[]string{"load", "-url", "https://class.example"}, []string{"-url", "http://HOST:PORT"}},
		{[]string{"load", "-time", "soon"}, []string{"-time", "between 1s"}},
		{[]string{"score"}, []string{"missing FILE argument"}},
		{[]string{"score", filepath.Join(empty, "none")}, []string{"no such file"}},
		{[]string{"score", empty}, []string{"folder"}},
		{[]string{"inspect", file, "-json=perhaps"}, []string{"-json", "true or false"}},
		{[]string{"rooms", "open"}, []string{`"open"`, "close or remove"}},
		{[]string{"rooms", "close", "-data", empty}, []string{"close", "room code"}},
		{[]string{"rooms", "remove", "-data", empty, "K7Q4"}, []string{"remove", "room code"}},
		{[]string{"rooms", "remove", "K7Q4MX", "K7Q4MY"}, []string{"K7Q4MY"}},
		{[]string{"rooms", "-data", ""}, []string{"-data", "must not be empty"}},
		{[]string{"rooms", "-colour"}, []string{"-colour", "not defined"}},
		{[]string{"check", "more"}, []string{`"more"`, "only flags"}},
		{[]string{"check", "-data", empty, "-model", filepath.Join(empty, "none")}, []string{"no such file or folder"}},
		{[]string{"backup"}, []string{"FILE"}},
		{[]string{"backup", "one", "two"}, []string{`"two"`}},
		{[]string{"version", "more"}, []string{`"more"`, "takes no arguments"}},
		{[]string{"notices", "more"}, []string{`"more"`, "takes no arguments"}},
		{trace("-tokenizer", file), []string{"-tokenizer", "requires -model"}},
		{
			trace("-model", filepath.Join(modelsFolder, "gpt2-f32.gguf"), "-tokenizer", file),
			[]string{"gpt2-f32.gguf: the model has its own tokenizer"},
		},
		{[]string{"inspect", filepath.Join(empty, "none")}, []string{"no such file or folder"}},
		{[]string{"inspect", file}, []string{"config.json", "is part of a model"}},
		{[]string{"inspect", "one", "two"}, []string{`"two"`, "only one path"}},
		{[]string{"inspect", "-colour"}, []string{"-colour", "not defined"}},
		{[]string{"serve", "-model", broken}, []string{"-model", "config.json"}},
		{[]string{"serve", "-data", file}, []string{"-data", "folder"}},
		{[]string{"serve", "-data", filepath.Join(file, "below")}, []string{"-data", "folder"}},
	} {
		f := try(t, nil, "", c.args...)
		if f.code != exitUsage || f.out != "" {
			t.Errorf("viz %q: exit %d, stdout %q; want %d and no output", c.args, f.code, f.out, exitUsage)
		}
		for _, want := range c.want {
			if !strings.Contains(f.errors, want) {
				t.Errorf("viz %q: message %q lacks %q", c.args, f.errors, want)
			}
		}
		if strings.Contains(f.errors, "goroutine") || strings.Count(f.errors, "\n") != 2 {
			t.Errorf("viz %q: message is not a line and a hint: %q", c.args, f.errors)
		}
	}
}

// TestBadEnvironment: an invalid value from the environment is reported like one from a flag, but
// with the variable's name.
func TestBadEnvironment(t *testing.T) {
	for variable, bad := range map[string]string{
		"VIZ_TEMP": "-1", "VIZ_TOP_K": "-1", "VIZ_TOP_P": "0", "VIZ_MIN_P": "2", "VIZ_SEED": "-1", "VIZ_N": "0",
		"VIZ_ROWS": "-1",
		"VIZ_STOP": strings.Repeat("x", 101), "VIZ_JSON": "maybe", "VIZ_PROMPT": strings.Repeat("x", 5000),
		"VIZ_MODEL": "no/such/folder",
	} {
		args := []string{"trace", "-prompt", "Hello"}
		if variable == "VIZ_PROMPT" {
			args = args[:1]
		}
		f := try(t, map[string]string{variable: bad}, "", args...)
		if f.code != exitUsage || !strings.Contains(f.errors, variable) {
			t.Errorf(
				"%s=%.20s: exit %d, message %q; want %d with %q", variable, bad, f.code, f.errors, exitUsage,
				variable,
			)
		}
	}
	for variable, bad := range map[string]string{
		"VIZ_ADDR": "here", "VIZ_NO_OPEN": "maybe", "VIZ_ALLOW_HOST": "a b", "VIZ_MODEL": "no/such/folder",
		"VIZ_DATA": "serve.go",
	} {
		f := try(t, map[string]string{variable: bad}, "", "serve")
		if f.code != exitUsage || !strings.Contains(f.errors, variable) {
			t.Errorf(
				"%s=%s: exit %d, message %q; want %d with %q", variable, bad, f.code, f.errors, exitUsage,
				variable,
			)
		}
	}
	// A valid flag overrides an invalid variable.
	if f := try(
		t, map[string]string{"VIZ_TEMP": "-1"}, "", "trace", "-prompt", "Hello", "-n", "1", "-temp", "1",
	); f.code != exitDone {
		t.Errorf("exit %d, want %d, %s", f.code, exitDone, f.errors)
	}
}

func TestHelpListsCommandsAndFlags(t *testing.T) {
	for _, c := range []struct {
		args string
		want []string
	}{
		{"-h", []string{"viz trace", "viz [serve]", "-version"}},
		{"help", []string{"viz trace"}},
		{"--help", []string{"viz trace"}},
		{"load -h", []string{"-followers N", "default 500", "-deaf", "-rooms"}},
		{
			"serve -h",
			[]string{
				"-public-url", "-tls-cert", "-room-ttl", "-addr", "-no-open", "-model", "-data", "-allow-host", "VIZ_",
			},
		},
		{
			"trace -h",
			[]string{
				"-prompt", "-n N", "default 64", "-temp", "-top-k", "-top-p", "-min-p", "-seed", "default 42", "-stop",
				"-rows", "-model", "-json", "VIZ_",
			},
		},
		{"trace --help", []string{"-prompt"}},
		{"inspect -h", []string{"viz inspect [flags] [PATH]", "exits with code 2", "-tensors", "-json", "-template"}},
		{"rooms -h", []string{"close", "remove", "-data DIR", "-json"}},
		{"rooms close -h", []string{"CODE", "-data DIR"}},
		{"check -h", []string{"-data DIR", "-model PATH", "-json", "exits with code 2"}},
		{"backup -h", []string{"FILE", "-data DIR", "cookie-secret"}},
		{"-version", []string{"viz ", "go1."}},
		{"version", []string{"viz ", "go1."}},
		{
			"notices",
			[]string{"Go standard library", "SQLite Is Public Domain", "SIL OPEN FONT LICENSE", "Zero-Clause BSD"},
		},
		{"serve -version", []string{"viz ", "go1."}},
	} {
		out := ok(t, strings.Fields(c.args)...)
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("viz %s: %q lacks %q", c.args, out, want)
			}
		}
	}
}

// TestTraceFromTheStartToken: a model that was trained with a start token
// continues an empty prompt.
func TestTraceFromTheStartToken(t *testing.T) {
	if got := ok(t, "trace", "-prompt", "", "-n", "1", "-rows", "1"); !strings.Contains(
		got, "prompt     <|endoftext|>\n           1 token\n",
	) {
		t.Errorf("printed\n%s\nwant it to contain %q", got, "prompt     <|endoftext|>\n           1 token\n")
	}
}

// TestUnknownKernelPath: every command rejects an unknown kernel path.
func TestUnknownKernelPath(t *testing.T) {
	for _, args := range [][]string{{"trace", "-prompt", "x"}, {"inspect"}, {"lab"}, {"-version"}} {
		f := try(t, map[string]string{"VIZ_KERNEL": "avx"}, "", args...)
		if want := `viz: VIZ_KERNEL: unknown kernel path "avx"; want portable, avx2 or ` +
			`avx512`; f.code != exitUsage || f.out != "" || !strings.HasPrefix(f.errors, want) {
			t.Errorf(
				`viz %q: exit %d, printed %q, stderr %q; want %d, "", a message beginning with %q`, args, f.code, f.out,
				f.errors, exitUsage, want,
			)
		}
	}
	if f := try(t, map[string]string{"VIZ_KERNEL": "portable"}, "", "-version"); f.code != exitDone {
		t.Errorf("portable: exit %d, want %d, stderr %q", f.code, exitDone, f.errors)
	}
}
