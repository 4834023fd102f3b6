import { answerOf, type Shape } from "../../client/client.ts";
import { CursorList } from "../parts/cursor-list.tsx";
import { EmptyState } from "../parts/empty-state.tsx";
import { Picture } from "../parts/picture.tsx";
import { Screen } from "../parts/screen.tsx";
import { client } from "../service/client.ts";
import { mayUse } from "../service/session.ts";
import { usePages } from "../service/use-data.ts";
import { href } from "../shell/href.ts";
import { CollectionsOffers } from "../write/offers.tsx";

/** Collections on a page. The pictures of a page are loaded as they come into view. */
const LIMIT = 24;

/** The app's collections as pictures. */
export function CollectionsScreen() {
  const pages = usePages(async (cursor) => {
    const query = { limit: LIMIT, ...(cursor === undefined ? {} : { cursor }) };
    const { collections, next } = await answerOf(client().GET("/v1/collections", { params: { query } }));
    return { items: collections, next };
  }, []);
  return (
    <Screen title="Collections" actions={<CollectionsOffers />}>
      <CursorList pages={pages} empty={<NoCollections />}>
        {(collections) => <CollectionTiles collections={collections} />}
      </CursorList>
    </Screen>
  );
}

/** Collections as pictures that open their pages. */
export function CollectionTiles({ collections }: { collections: readonly Shape<"Collection">[] }) {
  return (
    <ul class="tiles">
      {collections.map((collection) => (
        <li key={collection.address}>
          <CollectionTile collection={collection} />
        </li>
      ))}
    </ul>
  );
}

function CollectionTile({ collection }: { collection: Shape<"Collection"> }) {
  const { address, name, image, type, minted } = collection;
  return (
    <a class="tile" href={href("/collections/:address", { address })}>
      <Picture source={image} label="" seed={address} />
      <span class="tile-text">
        <bdi class="tile-name">{name}</bdi>
        <span class="tile-facts">
          {type} · {minted} minted
        </span>
      </span>
    </a>
  );
}

function NoCollections() {
  return (
    <EmptyState title="No collections yet">
      {mayUse("collections") ? (
        <a class="button button-primary" href={href("/collections/new")}>
          Create the first collection
        </a>
      ) : (
        "This session does not have the scope collections."
      )}
    </EmptyState>
  );
}
