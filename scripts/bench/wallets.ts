import type { Figure, Lab } from "./scenario.ts";
import { World } from "./world.ts";

/** New wallets, and wallets looked up, while nothing else runs. */
export async function wallets(lab: Lab): Promise<Figure[]> {
  const calls = lab.quick ? 1_000 : 10_000;
  return World.use(lab, {}, async (world) => {
    // The whole service has deployed the contracts and made the keys.
    await world.stopService();
    await world.startService("api");
    let user = 0;
    const ofUser = () => ({ user_identifier: `user-${(user++).toString()}` });
    const create = (body: () => object) => () => ({ method: "POST", path: "/v1/accounts", body: body() }) as const;
    await world.load.run(Math.floor(calls / 5), create(ofUser)); // warms up
    const created = await world.load.run(calls, create(ofUser));
    const unnamed = await world.load.run(
      calls,
      create(() => ({})),
    );
    const anyUser = () => `user-${Math.floor(Math.random() * user).toString()}`;
    const read = await world.load.run(calls, () => ({ method: "GET", path: `/v1/accounts/user/${anyUser()}` }));
    return [
      { what: "wallets of users created", unit: "/s", value: created },
      { what: "wallets without a user created", unit: "/s", value: unnamed },
      { what: "wallets of users looked up", unit: "/s", value: read },
    ];
  });
}
