/* Inside of service/faults.h: for the files that make up the script. */
#ifndef GG_SERVICE_FAULTS_PARTS_H
#define GG_SERVICE_FAULTS_PARTS_H

#include <pthread.h>

#include "service/faults.h"

#define GG_FAULTS_POLICY_ROOM 64

typedef struct gg_seen gg_seen;

struct gg_faults {
    uint64_t seed;
    uint32_t in_row; /* 0 = any number */
    bool checks;
    char policy[GG_FAULTS_POLICY_ROOM];
    gg_rule rules[GG_FAULTS_RULES];
    size_t rule_count;
    /* what changes while it is used */
    pthread_mutex_t lock;
    int64_t requests, hits[GG_FAULTS_RULES], class_hits[GG_TROUBLE_STOP + 1];
    gg_seen *seen;
    size_t seen_count, room;
};

#endif
