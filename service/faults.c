/* What a request meets. Reading scripts: service/faults_parse.c. */
#include <stdlib.h>
#include <string.h>

#include "core/rng.h"
#include "service/faults_parts.h"

#define TABLE_FIRST 1024
#define FNV_START   UINT64_C(14695981039346656037)
#define FNV_PRIME   UINT64_C(1099511628211)

/* What is known of one request: its bytes' hash, how often it came, how often it was answered, and
 * how often in a row it met trouble on the way. */
struct gg_seen {
    uint64_t hash; /* 0 = free */
    uint32_t attempts, answers, row;
};

static uint64_t hash_of(const char *body, size_t len)
{
    uint64_t hash = FNV_START;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)body[i]) * FNV_PRIME;
    return hash ? hash : 1;
}

static gg_seen *place_of(gg_seen *table, size_t room, uint64_t hash)
{
    size_t i = (size_t)(hash & (room - 1));
    while (table[i].hash && table[i].hash != hash)
        i = (i + 1) & (room - 1);
    return &table[i];
}

static bool grow(gg_faults *script)
{
    size_t room = script->room ? script->room * 2 : TABLE_FIRST;
    gg_seen *table = calloc(room, sizeof *table);
    if (!table)
        return false;
    for (size_t i = 0; i < script->room; i++)
        if (script->seen[i].hash)
            *place_of(table, room, script->seen[i].hash) = script->seen[i];
    free(script->seen);
    script->seen = table;
    script->room = room;
    return true;
}

/* The request's entry; NULL only when there is no memory at all. */
static gg_seen *remember(gg_faults *script, uint64_t hash)
{
    if (script->seen_count >= GG_FAULTS_SEEN) {
        memset(script->seen, 0, script->room * sizeof *script->seen);
        script->seen_count = 0;
    }
    if (script->seen_count * 2 >= script->room && !grow(script) &&
        script->seen_count + 1 >= script->room)
        return NULL;
    gg_seen *seen = place_of(script->seen, script->room, hash);
    if (!seen->hash) {
        seen->hash = hash;
        script->seen_count++;
    }
    return seen;
}

static double draw(const gg_faults *script, const char *purpose, const gg_seen *seen, uint32_t n)
{
    uint64_t mixed = gg_derive_seed(script->seed ^ seen->hash, purpose, (int64_t)n);
    return (double)mixed * 0x1p-53;
}

static bool within(int64_t value, int64_t from, int64_t to)
{
    return value >= from && value <= to;
}

static bool applies(const gg_rule *rule, const gg_verdict *verdict, int64_t turn)
{
    return within(verdict->request, rule->request_from, rule->request_to) &&
           within(turn, rule->turn_from, rule->turn_to) &&
           within(verdict->attempt, rule->attempt_from, rule->attempt_to) &&
           (!rule->every || verdict->request % rule->every == 0);
}

#define BIT(class) (1u << (class))
#define WIRE       (BIT(GG_TROUBLE_TRANSPORT) | BIT(GG_TROUBLE_STOP))

/* Shares add up in the order of the rules: one number decides among all that apply. */
static gg_rule *pick(gg_faults *script, unsigned classes, const gg_verdict *verdict, int64_t turn,
                     double unit)
{
    double passed = 0;
    for (size_t i = 0; i < script->rule_count; i++) {
        gg_rule *rule = &script->rules[i];
        if (!(classes & BIT(rule->trouble->class)) || !applies(rule, verdict, turn) ||
            (rule->times && script->hits[i] >= rule->times))
            continue;
        if (rule->share >= 1 || unit < passed + rule->share) {
            script->hits[i]++;
            return rule;
        }
        passed += rule->share;
    }
    return NULL;
}

static void decide(gg_faults *script, gg_seen *seen, int64_t turn, gg_verdict *out)
{
    out->attempt = ++seen->attempts;
    bool spared = script->in_row && seen->row >= script->in_row;
    out->wire = pick(script, spared ? BIT(GG_TROUBLE_STOP) : WIRE, out, turn,
                     draw(script, "wire", seen, seen->attempts));
    bool answered = !out->wire || out->wire->trouble->delivers;
    seen->row = answered ? 0 : seen->row + 1;
    if (answered)
        out->model = pick(script, BIT(GG_TROUBLE_MODEL), out, turn,
                          draw(script, "model", seen, seen->answers++));
}

gg_verdict gg_faults_decide(gg_faults *script, const char *body, size_t len, int64_t turn)
{
    gg_verdict verdict = {0};
    pthread_mutex_lock(&script->lock);
    verdict.request = ++script->requests;
    gg_seen *seen = remember(script, hash_of(body, len));
    if (seen)
        decide(script, seen, turn, &verdict);
    if (verdict.wire)
        script->class_hits[verdict.wire->trouble->class]++;
    if (verdict.model)
        script->class_hits[verdict.model->trouble->class]++;
    pthread_mutex_unlock(&script->lock);
    return verdict;
}

int64_t gg_faults_hits(const gg_faults *script, gg_trouble_class class)
{
    return script->class_hits[class];
}

int64_t gg_faults_requests(const gg_faults *script)
{
    return script->requests;
}

const char *gg_faults_policy(const gg_faults *script)
{
    return *script->policy ? script->policy : NULL;
}

bool gg_faults_checks(const gg_faults *script)
{
    return script->checks;
}

void gg_faults_free(gg_faults *script)
{
    if (!script)
        return;
    pthread_mutex_destroy(&script->lock);
    free(script->seen);
    free(script);
}
