/* The page from head to foot. */
#include "report/report.h"

#include <string.h>

#include "report/report_inside.h"

#define OUT_MAX (256u << 20)
#define HAND_ON (1u << 20)
#define POLICY                                                                                     \
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "              \
    "form-action 'none'; script-src 'sha256-"

gg_status gg_report_flush(gg_report *r, bool all, gg_error *error)
{
    gg_status status = gg_buf_status(&r->out, "a report", error);
    if (status != GG_OK || (!all && r->out.len < HAND_ON))
        return status;
    status = r->write(r->context, gg_buf_cstr(&r->out), r->out.len, error);
    gg_buf_reset(&r->out);
    return status;
}

void gg_report_text(gg_buf *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (strchr("<>&\"'", c))
            gg_buf_printf(out, "&#%d;", c);
        else
            gg_buf_char(out, c < 0x20 && c != '\n' && c != '\t' ? ' ' : (char)c);
    }
}

/* ---- head ---- */

void gg_report_base64(gg_buf *out, const uint8_t *bytes, size_t len)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < len; i += 3) {
        uint32_t v = (uint32_t)bytes[i] << 16 | (i + 1 < len ? (uint32_t)bytes[i + 1] << 8 : 0) |
                     (i + 2 < len ? bytes[i + 2] : 0u);
        gg_buf_char(out, digits[v >> 18 & 63]);
        gg_buf_char(out, digits[v >> 12 & 63]);
        gg_buf_char(out, i + 1 < len ? digits[v >> 6 & 63] : '=');
        gg_buf_char(out, i + 2 < len ? digits[v & 63] : '=');
    }
}

static void add_title(gg_report *r)
{
    for (size_t i = 0; i < r->run_count; i++) {
        gg_buf_str(&r->out, i ? " and " : "");
        gg_report_text(&r->out, r->o->names[i]);
    }
}

static void add_head(gg_report *r)
{
    uint8_t digest[32];
    gg_sha256(gg_report_js, strlen(gg_report_js), digest);
    gg_buf_str(&r->out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                        "<meta http-equiv=\"Content-Security-Policy\" content=\"" POLICY);
    gg_report_base64(&r->out, digest, sizeof digest);
    gg_buf_str(&r->out, "'\">\n<title>");
    add_title(r);
    gg_buf_str(&r->out, "</title>\n<style>\n");
    gg_buf_str(&r->out, gg_report_css);
    gg_buf_str(&r->out, "</style>\n</head>\n<body>\n<header><h1>");
    add_title(r);
    gg_buf_str(&r->out,
               "</h1><div><button id=\"safe\" aria-pressed=\"false\" title=\"colours that are told "
               "apart without red and green (c)\">colours</button> <button id=\"dark\" "
               "title=\"dark or light (d)\">dark</button> <button id=\"help\" title=\"keys "
               "(?)\">keys</button></div></header>\n<main>\n");
}

static void add_foot(gg_report *r)
{
    gg_buf_str(&r->out,
               "</main>\n<footer>Made by guessgym from the records of the run. A solve rate is "
               "solved plays over plays that did not err; intervals are 95 %.</footer>\n<dialog "
               "id=\"keys\"><h3>Keys</h3><table><tr><td><kbd>j</kbd> <kbd>k</kbd><td>next play, "
               "the one before<tr><td><kbd>/</kbd><td>search<tr><td><kbd>f</kbd><td>next "
               "filter<tr><td><kbd>c</kbd><td>colours<tr><td><kbd>d</kbd><td>dark or "
               "light<tr><td><kbd>?</kbd><td>this</table><form method=\"dialog\"><button>close"
               "</button></form></dialog>\n<script>");
    gg_buf_str(&r->out, gg_report_js);
    gg_buf_str(&r->out, "</script>\n</body>\n</html>\n");
}

static gg_status write_all(gg_report *r, gg_error *error)
{
    gg_status status = gg_report_collect(r, error);
    if (status != GG_OK)
        return status;
    add_head(r);
    gg_report_headline(r);
    status = gg_report_curves(r, error);
    if (status == GG_OK) {
        gg_report_tables(r);
        status = gg_report_plays(r, error);
    }
    if (status != GG_OK)
        return status;
    add_foot(r);
    return gg_report_flush(r, true, error);
}

gg_status gg_report_write(const gg_report_options *options, gg_report_write_fn write, void *context,
                          gg_error *error)
{
    gg_report report = {
        .o = options, .run_count = options->runs[1] ? 2 : 1, .write = write, .context = context};
    gg_buf_init(&report.out, OUT_MAX);
    gg_status status = write_all(&report, error);
    gg_report_free(&report);
    return status;
}
