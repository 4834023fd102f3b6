/** What an operator must know and do when the chain has a transaction of a lane that the database does not know. */
export function unknownTransaction(hash: string): string {
  return (
    `The chain has transaction ${hash} of this service's lanes, and the database does not know it: the database is an old ` +
    "backup, or another service uses the same seed. Nothing is sent, so that no request runs twice. Stop the service, make " +
    "sure that no other service uses the seed, and run `npm run cli -- reconcile`."
  );
}
