-- What the roles of PostgreSQL may do. `npm run cli -- migrate` runs this as the owner of the database. A role that does not exist
-- is left out: an installation may use one user for everything. docs/operations.md says how to create them.
do $grants$
declare
  -- Nobody but the owner changes the list of migrations.
  migrations constant text := 'kysely_migration, kysely_migration_lock';
  -- What copying media, and failing a request whose media are unavailable, adds or removes.
  of_media constant text := 'media, app_media, media_jobs, pins, announcements, media_blocks, media_bytes, media_unused_objects,
    media_collections, parked_rows, leases, processes, counters, gas_usage, events, deliveries, abandoned_deliveries';
  -- What such a request changes, and what must be locked meanwhile. A row can be locked only with the right to update it.
  changed_by_media constant text := 'requests, collections, nfts, holdings';
  locked_by_media constant text[] := array['apps', 'webhooks'];
  -- What the built-in IPFS node reads.
  read_by_ipfs constant text := 'meta, media, media_blocks, media_bytes, media_collections, kysely_migration';
  of_ipfs constant text := 'announcements, parked_rows, leases, processes';
  secrets constant text := 'api_tokens, console_sessions, idempotency_keys, attempts';
  name text;
begin
  foreach name in array array['moneta_service', 'moneta_media', 'moneta_ipfs'] loop
    if not exists (select from pg_roles where rolname = name) then continue; end if;
    -- Rights of an earlier version of this file end here.
    execute format('revoke all on all tables in schema %I from %I', current_schema(), name);
    execute format('revoke all on all sequences in schema %I from %I', current_schema(), name);
    execute format('grant usage on schema %I to %I', current_schema(), name);
    execute format('grant usage, select on all sequences in schema %I to %I', current_schema(), name);
  end loop;

  if exists (select from pg_roles where rolname = 'moneta_service') then
    execute format('grant select, insert, update, delete on all tables in schema %I to moneta_service', current_schema());
    execute format('revoke insert, update, delete on %s from moneta_service', migrations);
  end if;

  if exists (select from pg_roles where rolname = 'moneta_media') then
    execute format('grant select on all tables in schema %I to moneta_media', current_schema());
    execute format('revoke select on %s from moneta_media', secrets);
    execute format('grant insert, update, delete on %s to moneta_media', of_media);
    execute format('grant update on %s to moneta_media', changed_by_media);
    execute 'grant delete on nfts to moneta_media';
    -- To lock the row that names the block store. It can add no row.
    execute 'grant update (value) on meta to moneta_media';
    foreach name in array locked_by_media loop
      execute format('grant update (created_at) on %I to moneta_media', name);
    end loop;
  end if;

  if exists (select from pg_roles where rolname = 'moneta_ipfs') then
    execute format('grant select on %s to moneta_ipfs', read_by_ipfs);
    execute format('grant select, insert, update, delete on %s to moneta_ipfs', of_ipfs);
  end if;
end
$grants$
