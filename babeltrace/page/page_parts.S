/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The page as two strings of bytes: what stands before its data, and behind. */
	.section .rodata

	.globl	kr_page_head, kr_page_head_end
	.hidden	kr_page_head, kr_page_head_end
kr_page_head:
	.incbin	"page/head.html"
	.ascii	"<style>\n"
	.incbin	"page/page.css"
	.ascii	"</style>\n"
	.incbin	"page/body.html"
	.ascii	"<script id=\"data\" type=\"application/json\">\n"
kr_page_head_end:

	.globl	kr_page_tail, kr_page_tail_end
	.hidden	kr_page_tail, kr_page_tail_end
kr_page_tail:
	.ascii	"</script>\n<script>\n"
	.incbin	"page/flame.js"
	.ascii	"</script>\n<script>\n"
	.incbin	"page/page.js"
	.ascii	"</script>\n</body>\n</html>\n"
kr_page_tail_end:

	.section .note.GNU-stack, "", @progbits
