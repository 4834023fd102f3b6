/** Whether the URL names a PostgreSQL database. All others are SQLite files. */
export function isPostgres(url: string): boolean {
  return /^postgres(ql)?:\/\//.test(url);
}

/** The database as messages show it: without the password, and without options that may contain one. */
export function databaseName(url: string): string {
  if (!isPostgres(url)) return url;
  const parsed = URL.parse(url);
  if (parsed === null) return "at DATABASE_URL";
  const user = parsed.username === "" ? "" : `${parsed.username}@`;
  return `postgres://${user}${parsed.host}${parsed.pathname}`;
}
