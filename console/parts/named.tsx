import { collectionAt, walletAt } from "../service/directory.ts";
import { shortHex } from "../service/format.ts";
import { explorerLink } from "../service/links.ts";
import { href } from "../shell/href.ts";
import { Address, CopyButton } from "./copyable.tsx";
import { Picture } from "./picture.tsx";

/* What the app calls an address. Without a name for it, the address itself. */

/** Who holds, sends or gets tokens: the app's user, a wallet of the app without a user, or somebody else. */
export function Holder({ address, what = "the address" }: { address: string; what?: string }) {
  const wallet = walletAt(address);
  if (wallet === null) return <Address value={address} what={what} link={explorerLink({ address })} />;
  const page = href("/wallets/:address", { address });
  if (wallet.user_identifier === null) return <Address value={address} what={what} link={page} />;
  return (
    <span class="address">
      <a href={page} title={address}>
        <bdi>{wallet.user_identifier}</bdi>
      </a>
      <CopyButton text={address} what={what} />
    </span>
  );
}

/** A collection with its picture and its name. */
export function CollectionName({ address }: { address: string }) {
  const collection = collectionAt(address);
  if (collection === null) return <code title={address}>{shortHex(address)}</code>;
  return (
    <span class="named" title={address}>
      <Picture source={collection.image} label="" seed={address} />
      <bdi>{collection.name}</bdi>
    </span>
  );
}
