#include <stddef.h>
#include <mysql.h>
#include <mariadb_rpl.h>

/* MySQL's own client library has headers of the same names. */
#ifndef MARIADB_PACKAGE_VERSION_ID
#error "FieldMerge is built with the headers of MariaDB Connector/C (Debian and Ubuntu: libmariadb-dev)"
#endif

/* Reading the binary log. Connector/C contains the bytes of an event since version 2 of its interface for replication
   (3.3.5). The options have a variable number of arguments, which Swift does not call. */
#if defined(MARIADB_RPL_VERSION) && MARIADB_RPL_VERSION >= 2

static inline MARIADB_RPL *fieldmerge_rpl_begin(MYSQL *mysql, unsigned int server_id) {
    MARIADB_RPL *rpl = mariadb_rpl_init_ex(mysql, MARIADB_RPL_VERSION);
    if (!rpl) return NULL;
    mariadb_rpl_optionsv(rpl, MARIADB_RPL_SERVER_ID, server_id);
    mariadb_rpl_optionsv(rpl, MARIADB_RPL_START, 4UL);
    mariadb_rpl_optionsv(rpl, MARIADB_RPL_FLAGS, 0U);
    if (mariadb_rpl_open(rpl)) {
        mariadb_rpl_close(rpl);
        return NULL;
    }
    return rpl;
}

static inline const unsigned char *fieldmerge_rpl_bytes(MARIADB_RPL_EVENT *event, size_t *length) {
    *length = event->raw_data_size - event->raw_data_ofs;
    return event->raw_data + event->raw_data_ofs;
}
#else

static inline MARIADB_RPL *fieldmerge_rpl_begin(MYSQL *mysql, unsigned int server_id) {
    (void)mysql, (void)server_id;
    return NULL;
}

static inline const unsigned char *fieldmerge_rpl_bytes(MARIADB_RPL_EVENT *event, size_t *length) {
    (void)event, *length = 0;
    return NULL;
}
#endif
