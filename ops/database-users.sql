-- The users of the processes in compose.yaml, for psql. The image of PostgreSQL runs this when it creates the database. It may
-- run again. The owner of the database is not among them: only `migrate` connects as the owner, and gives the roles their
-- rights (api/store/db/grants.sql).
\getenv service_password SERVICE_DATABASE_PASSWORD
\getenv relayer_password RELAYER_DATABASE_PASSWORD
\getenv media_password MEDIA_DATABASE_PASSWORD
\getenv ipfs_password IPFS_DATABASE_PASSWORD

do $users$
declare
  name text;
  role text;
begin
  for name, role in values
    ('moneta_api', 'moneta_service'), ('moneta_signer', 'moneta_relayer'), ('moneta_copies', 'moneta_media'), ('moneta_peers', 'moneta_ipfs')
  loop
    if not exists (select from pg_roles where rolname = role) then execute format('create role %I', role); end if;
    if not exists (select from pg_roles where rolname = name) then execute format('create user %I', name); end if;
    execute format('grant %I to %I', role, name);
  end loop;
end
$users$;

alter user moneta_api password :'service_password';
alter user moneta_signer password :'relayer_password';
alter user moneta_copies password :'media_password';
alter user moneta_peers password :'ipfs_password';
