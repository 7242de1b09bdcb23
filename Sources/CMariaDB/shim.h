#include <mysql.h>

/* MySQL's own client library has headers of the same names. */
#ifndef MARIADB_PACKAGE_VERSION_ID
#error "FieldMerge is built with the headers of MariaDB Connector/C (Debian and Ubuntu: libmariadb-dev)"
#endif
