import { answerOf } from "../../client/client.ts";
import { client } from "../service/client.ts";
import { useData } from "../service/use-data.ts";

/** The first wallets of the app, as suggestions for a field with its `list`. */
export function WalletList({ id }: { id: string }) {
  const { data } = useData(() => answerOf(client().GET("/v1/accounts", {})), []);
  return (
    <datalist id={id}>
      {(data?.wallets ?? []).map(({ address, user_identifier: user }) => (
        <option key={address} value={address}>
          {user ?? address}
        </option>
      ))}
    </datalist>
  );
}
