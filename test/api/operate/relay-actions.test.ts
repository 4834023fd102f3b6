import { expect } from "chai";

import { Relay__factory } from "../../../contracts/generated/factories/Relay__factory.ts";
import { readAction } from "../../../api/operate/deploy/relay.ts";

const OPERATOR = "0x00000000000000000000000000000000000000A1";

describe("actions on the relay", () => {
  it("undo each other", () => {
    const { interface: abi } = Relay__factory.connect(OPERATOR);
    const [unpause] = readAction("unpause", []);
    const [add] = readAction("add-operator", [OPERATOR]);
    expect(unpause?.data).to.equal(abi.encodeFunctionData("unpause"));
    expect(add?.data).to.equal(abi.encodeFunctionData("setOperator", [OPERATOR, true]));
  });

  for (const [action, values, message] of [
    ["stop", [], "stop is not an action"],
    ["remove-operator", [], "remove-operator needs addresses"],
    ["remove-operator", ["0x12"], "0x12 is not an address"],
    ["cancel", ["seven"], "seven is not a request number"],
    ["cancel", [(2n ** 256n).toString()], "is not a request number"],
  ] as const) {
    it(`${action} ${values.join(" ")}`.trim(), () => {
      expect(() => readAction(action, values)).to.throw(message);
    });
  }
});
