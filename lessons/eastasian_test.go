package lessons

import "testing"

// TestEastAsianText: a line break between Chinese or Japanese characters is not rendered as a
// space, either in a page or in its plain text. Asterisks next to Chinese or Japanese punctuation
// mark emphasis. Korean keeps its spaces, and other text is unchanged.
func TestEastAsianText(t *testing.T) {
	l := newLoader(nil, MathTable{})
	for _, test := range []struct{ markdown, html, plain string }{
		{"**温度，**它决定", "<p><strong>温度，</strong>它决定</p>", "温度，它决定"},
		{"它是**“温度”**的", "<p>它是<strong>“温度”</strong>的</p>", "它是“温度”的"},
		{"これは**「重点」**です", "<p>これは<strong>「重点」</strong>です</p>", "これは「重点」です"},
		{"이것은 **강조(emphasis)**는", "<p>이것은 <strong>강조(emphasis)</strong>는</p>", "이것은 강조(emphasis)는"},
		{"中*文（a）*字", "<p>中<em>文（a）</em>字</p>", "中文（a）字"},
		{"中文** 字**", "<p>中文** 字**</p>", "中文** 字**"}, // an asterisk next to a space does not start emphasis
		{"第一行，\n第二行", "<p>第一行，第二行</p>", "第一行，第二行"},
		{"第一行\n**第二行**\n第三行", "<p>第一行<strong>第二行</strong>第三行</p>", "第一行第二行第三行"},
		{"**第一\n第二**\n“三”\n四", "<p><strong>第一第二</strong>“三”四</p>", "第一第二“三”四"},
		{"> 中\n> 文", "<blockquote>\n<p>中文</p>\n</blockquote>", "中文"},
		{"中文\ntoken\n中文", "<p>中文\ntoken\n中文</p>", "中文 token 中文"},
		{"中文  \n字", "<p>中文<br>\n字</p>", "中文\n字"}, // an intended break
		{"한국어\n문장", "<p>한국어\n문장</p>", "한국어 문장"},
		{
			"one,\n“two”\n**three**\nfour.\nFive", "<p>one,\n“two”\n<strong>three</strong>\nfour.\nFive</p>",
			"one, “two” three four. Five",
		},
		{"a**b,**c *d* __e__", "<p>a**b,**c <em>d</em> <strong>e</strong></p>", "a**b,**c d e"},
	} {
		html, plain := l.blockText(position{"x.md", 1}, test.markdown)
		if html != test.html || plain != test.plain {
			t.Errorf("%q: got %q and %q, want %q and %q", test.markdown, html, plain, test.html, test.plain)
		}
		if line, _ := l.inline(position{"x.md", 1}, "**温度，**它"); line != "<strong>温度，</strong>它" {
			t.Errorf("a line: got %q", line)
		}
	}
}
