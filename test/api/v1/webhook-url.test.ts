import { expect } from "chai";

import { useApi } from "../support/use-api.ts";
import { expectInvalid } from "../support/expect.ts";

describe("the URL of a webhook", () => {
  const api = useApi();

  const put = (url: string) => api.call("PUT", "/v1/webhook", { body: { url } });

  for (const host of [
    "127.0.0.1",
    "10.0.0.1:8080",
    "192.168.1.1",
    "169.254.169.254",
    "0x7f.1",
    "2130706433",
    "0.0.0.0",
    "[::1]",
    "[::ffff:10.0.0.1]",
    "[fd00::1]",
    "[64:ff9b::a00:1]",
    "[2002:a00:1::1]",
    "[::ffff:7f00:1]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "0177.0.0.1",
    "100.64.0.1",
  ]) {
    it(`is refused with the address ${host}`, async () => {
      expectInvalid(await put(`http://${host}/hook`), { url: "private_address" });
    });
  }

  it("is refused with the setting that allows it", async () => {
    expect((await put("http://10.0.0.1/hook")).body).to.include({
      message:
        "`url`: The address is not public, and the service calls public addresses only. The operator can allow its host with ALLOWED_PRIVATE_HOSTS.",
    });
  });

  it("may have a public address, an address that the operator allows, or any host name", async () => {
    for (const host of [
      "93.184.216.34",
      "[2606:2800:220:1:248:1893:25c8:1946]",
      "10.1.2.3",
      "localhost",
      "a.example",
    ]) {
      expect((await put(`https://${host}/hook`)).status, host).to.equal(200);
    }
  });
});
