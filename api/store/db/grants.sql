-- What the roles of PostgreSQL may do. `npm run cli -- migrate` runs this as the owner of the database. A role that does not exist
-- is left out: an installation may use one user for everything. docs/operations.md says how to create them.
--
-- `moneta_relayer` has the rights of `moneta_service`, and alone it reads and stores the imported keys of wallets.
-- `moneta_media` parses files of strangers, and `moneta_ipfs` talks to strangers. Each writes only tables that hold its own work.
-- What a media job found goes to `media_results`: a process of `moneta_service` checks it and changes the request.
do $grants$
declare
  -- Nobody but the owner changes the list of migrations.
  migrations constant text := 'kysely_migration, kysely_migration_lock';
  secrets constant text := 'api_tokens, console_sessions, idempotency_keys, attempts, webhooks, imported_keys';
  read_by_ipfs constant text := 'meta, media, media_blocks, media_bytes, media_collections, kysely_migration, announcements,
    ipfs_leases, other_processes';
  -- Role, rights, tables. They can be read as well.
  writes constant text[] := array[
    ['moneta_media', 'update, delete', 'media_jobs'],
    ['moneta_media', 'insert', 'media_results, forgotten_media'],
    ['moneta_media', 'insert, delete', 'media, announcements, media_bytes'],
    ['moneta_media', 'insert, update, delete', 'pins, media_blocks, media_unused_objects, media_collections'],
    ['moneta_media', 'insert, update, delete', 'media_parked_rows, other_processes'],
    ['moneta_media', 'insert, update', 'media_leases'],
    -- Only to lock its row.
    ['moneta_media', 'update', 'media_store_lock'],
    ['moneta_ipfs', 'update', 'announcements'],
    ['moneta_ipfs', 'insert, update, delete', 'other_processes'],
    ['moneta_ipfs', 'insert, update', 'ipfs_leases']
  ];
  name text;
  granted text[];
begin
  foreach name in array array['moneta_service', 'moneta_relayer', 'moneta_media', 'moneta_ipfs'] loop
    if not exists (select from pg_roles where rolname = name) then continue; end if;
    -- Rights of an earlier version of this file end here.
    execute format('revoke all on all tables in schema %I from %I', current_schema(), name);
    execute format('revoke all on all sequences in schema %I from %I', current_schema(), name);
    execute format('grant usage on schema %I to %I', current_schema(), name);
    if name in ('moneta_service', 'moneta_relayer') then
      execute format('grant select, insert, update, delete on all tables in schema %I to %I', current_schema(), name);
      execute format('grant usage, select on all sequences in schema %I to %I', current_schema(), name);
      execute format('revoke insert, update, delete on %s from %I', migrations, name);
      if name = 'moneta_service' then
        execute format('revoke all on imported_keys from %I', name);
        -- For `doctor`.
        execute format('grant select (id, wallet, created_at) on imported_keys to %I', name);
      end if;
    elsif name = 'moneta_media' then
      execute format('grant select on all tables in schema %I to %I', current_schema(), name);
      execute format('revoke select on %s from %I', secrets, name);
      -- For `/metrics`.
      execute format('grant select (id, disabled_at) on webhooks to %I', name);
    else
      execute format('grant select on %s to %I', read_by_ipfs, name);
    end if;
    foreach granted slice 1 in array writes loop
      if granted[1] = name then execute format('grant %s on %s to %I', granted[2], granted[3], name); end if;
    end loop;
  end loop;
end
$grants$
