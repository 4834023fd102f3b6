import type { ArrivingToken, Receiver, ReceiverReads } from "../../../api/chain/receivers.ts";

/** A fake of the chain reader for receivers. Whatever a test does not name is an account. */
export class FakeReceivers implements ReceiverReads {
  readonly found = new Map<string, Receiver>();
  readonly asked: { token: ArrivingToken; addresses: readonly string[] }[] = [];
  /** An answer waits for it. */
  until: Promise<unknown> | null = null;

  /** The limits of the calls, in the order of `asked`. */
  readonly aborts: AbortSignal[] = [];

  async read(token: ArrivingToken, addresses: readonly string[], abort: AbortSignal): Promise<Receiver[]> {
    this.asked.push({ token, addresses });
    this.aborts.push(abort);
    await this.until;
    const account: Receiver = { is: "account", delegate: null, accepts: true, reason: null };
    return addresses.map((address) => this.found.get(address) ?? account);
  }
}
