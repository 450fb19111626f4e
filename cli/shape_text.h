/* The reward lab's figures for people. */
#ifndef GG_CLI_SHAPE_TEXT_H
#define GG_CLI_SHAPE_TEXT_H

#include "report/shape.h"

/* What the plays before let expect; one line, without its end. */
void gg_tell_shape_expected(const gg_shape_figures *figures, gg_buf *out);
void gg_tell_shape(const gg_shape_figures *figures, gg_buf *out);

#endif
