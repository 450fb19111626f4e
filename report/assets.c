/* The page's style and script, as they stand in report/page/. */
#include "report/report_inside.h"

#define FILE_AS(name, path)                                                                        \
    __asm__(".section .rodata\n.global " #name "\n.hidden " #name "\n" #name ":\n.incbin \"" path  \
            "\"\n.byte 0\n.previous\n")

FILE_AS(gg_report_css, "report/page/page.css");
FILE_AS(gg_report_js, "report/page/page.js");
