// The console in Chromium: every page in both schemes and at two widths, without a finding of axe, an
// error of the browser or a bar to scroll sideways; and what a person does with keyboard and mouse.
//
// Run by `cargo xtask clients`. SHELFMARK is the command, SHELFMARK_PICTURES a folder for pictures.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
const HOSTILE = `<script>alert(1)</script>"><img src=x onerror=alert(2)>`;

// A model of the table below, whose scan no pattern covers.
const ORDERS = `entity Order {
  customer: text(min 1, max 100)
  placed: text(min 1, max 100)
  total: int optional
  key (customer, placed)
  fanout customer avg 10 max 100
}
read orders_of(c) = Order where customer = c order by placed rate 10/s
write place(c, p, t) = insert Order(customer c, placed p, total t)
schema own target dynamodb {
  table orders from Order key (customer; placed) store { total }
}
`;

let server, browser, address, endpoint, folder;

async function operation(name, body) {
  const answer = await fetch(endpoint, {
    method: "POST",
    headers: { "x-amz-target": `DynamoDB_20120810.${name}`, "content-type": "application/x-amz-json-1.0" },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return JSON.parse(text);
}

async function statement(text) {
  const answer = await fetch(`${address}/ask/run`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ language: "cql", text }),
  });
  const told = await answer.json();
  assert.ok(told.ok, `${text}: ${JSON.stringify(told)}`);
}

async function load() {
  await operation("CreateTable", {
    TableName: "orders",
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: ["customer", "placed", "status"].map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
    KeySchema: [
      { AttributeName: "customer", KeyType: "HASH" },
      { AttributeName: "placed", KeyType: "RANGE" },
    ],
    GlobalSecondaryIndexes: [
      {
        IndexName: "by_status",
        KeySchema: [
          { AttributeName: "status", KeyType: "HASH" },
          { AttributeName: "placed", KeyType: "RANGE" },
        ],
        Projection: { ProjectionType: "ALL" },
      },
    ],
  });
  const puts = [];
  for (let at = 0; at < 400; at += 1) {
    const customer = at < 200 ? "customer-large" : `customer-${String(at % 40).padStart(3, "0")}`;
    puts.push({
      PutRequest: {
        Item: {
          customer: { S: customer },
          placed: { S: `2026-11-${String((at % 28) + 1).padStart(2, "0")}T08:00:00#${at}` },
          status: { S: at % 7 === 0 ? "open" : "sent" },
          total: { N: String(at * 1.5) },
          lines: { L: [{ M: { article: { S: "book" }, count: { N: "2" } } }] },
        },
      },
    });
  }
  puts.push({ PutRequest: { Item: { customer: { S: HOSTILE }, placed: { S: HOSTILE }, [HOSTILE]: { S: HOSTILE } } } });
  for (let at = 0; at < puts.length; at += 25) {
    await operation("BatchWriteItem", { RequestItems: { orders: puts.slice(at, at + 25) } });
  }
  await statement("CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
  await statement("CREATE TABLE shop.events (who text, at int, tags set<text>, PRIMARY KEY (who, at)) WITH CLUSTERING ORDER BY (at DESC)");
  for (let at = 0; at < 60; at += 1) {
    await statement(`INSERT INTO shop.events (who, at, tags) VALUES ('ada', ${at}, {'a', 'b'})`);
  }
}

before(async () => {
  assert.ok(CHROMIUM, "there is no Chromium; Debian: apt-get install chromium");
  folder = mkdtempSync(join(tmpdir(), "shelfmark-browser-"));
  const ready = join(folder, "ready.json");
  const any = "127.0.0.1:0";
  server = spawn(
    process.env.SHELFMARK,
    ["serve", "--memory", "--dynamodb", any, "--cql", any, "--console", any, "--ready-file", ready],
    { stdio: "ignore" },
  );
  for (let turn = 0; turn < 300 && !existsSync(ready); turn += 1) {
    await new Promise((done) => setTimeout(done, 50));
  }
  const addresses = JSON.parse(readFileSync(ready, "utf8"));
  address = `http://${addresses.console}`;
  endpoint = `http://${addresses.dynamodb}`;
  await load();
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
});

after(async () => {
  await browser?.close();
  server?.kill("SIGTERM");
  if (folder) rmSync(folder, { recursive: true });
});

/** Opens a page of the console; whatever the browser complains of fails the test at its end. */
async function opened(t, path, { scheme = "light", width = 1280, height = 900 } = {}) {
  const context = await browser.newContext({
    baseURL: address,
    colorScheme: scheme,
    viewport: { width, height },
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (told) => {
    // What the server refuses is told beside what was typed; the browser repeats it.
    const isRefusal = told.text().startsWith("Failed to load resource");
    if (["error", "warning"].includes(told.type()) && !isRefusal) complaints.push(told.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => {
    complaints.push(`a script ran: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    if (!/^(blob|data):/.test(request.url()) && !request.url().startsWith(address)) {
      complaints.push(`loaded from elsewhere: ${request.url()}`);
    }
  });
  t.after(async () => {
    await context.close();
    assert.deepEqual(complaints, []);
  });
  await page.goto(path);
  return page;
}

async function clean(page, what) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document));
  const told = violations.map((own) => `${what}: ${own.id}: ${own.nodes.map((node) => node.html.slice(0, 160)).join("\n")}`);
  assert.deepEqual(told, []);
  const over = await page.evaluate(() => document.scrollingElement.scrollWidth - window.innerWidth);
  assert.ok(over <= 0, `${what}: ${over} pixels stand over the right edge`);
}

async function picture(page, name, { fullPage = true } = {}) {
  if (process.env.SHELFMARK_PICTURES) {
    await page.screenshot({ path: join(process.env.SHELFMARK_PICTURES, `${name}.png`), fullPage });
  }
}

// What is done on a page before it is looked at.
const PAGES = {
  tables: ["/tables", async () => {}],
  table: ["/tables/dynamodb/orders", async () => {}],
  index: ["/tables/dynamodb/orders?index=by_status", async () => {}],
  rows: ["/tables/dynamodb/orders/rows?p0=customer-large", async () => {}],
  row: [
    "/tables/dynamodb/orders/rows?p0=customer-large",
    async (page) => {
      await page.locator("button.open").first().click();
      await page.locator("#row[open]").waitFor();
      await page.locator("#row pre", { hasText: "customer" }).waitFor();
    },
  ],
  hostile: ["/tables/dynamodb/orders/rows?p0=" + encodeURIComponent(HOSTILE), async () => {}],
  events: ["/tables/shop/events", async () => {}],
  ask: [
    "/ask?language=partiql&text=" +
      encodeURIComponent("SELECT * FROM orders WHERE customer = 'customer-large' AND placed > '2026-11-20' AND status = 'open'"),
    async (page) => {
      await page.locator("button.primary").click();
      await page.locator("#ask-answer .key-line").first().waitFor();
    },
  ],
  models: [
    "/models",
    async (page) => {
      await page.locator('[data-do="starter"]').click();
      await page.locator("#model-state", { hasText: "allowed" }).waitFor();
    },
  ],
  pictures: [
    "/models",
    async (page) => {
      await page.locator('[data-do="starter"]').click();
      await page.locator("#model-state", { hasText: "allowed" }).waitFor();
      await page.locator("#tab-pictures").click();
      await page.locator("img.picture").nth(3).waitFor();
      await page.waitForFunction(() => [...document.images].every((image) => image.complete && image.naturalWidth > 0));
    },
  ],
  plan: [
    "/models",
    async (page) => {
      await page.locator('[data-do="starter"]').click();
      await page.locator("#model-state", { hasText: "allowed" }).waitFor();
      await page.locator("#tab-plan").click();
      await page.locator("[data-target]").waitFor();
    },
  ],
  watch: [
    "/watch",
    async (page) => {
      // The page shows the model of the test before until this one is taken: what comes before that is not
      // compared with it.
      await Promise.all([
        page.waitForResponse((response) => response.request().method() === "POST"),
        page.locator("#watch [name=file]").setInputFiles({ name: "orders.shelf", mimeType: "text/plain", buffer: Buffer.from(ORDERS) }),
      ]);
      await page.locator("#watch-part th", { hasText: "orders_of" }).waitFor();
      await operation("Scan", { TableName: "orders" });
      await page.locator("#watch-part pre", { hasText: "read every_order() = Order" }).waitFor({ timeout: 15_000 });
    },
  ],
  server: [
    "/server",
    async (page) => {
      await page.locator("#charts polyline").first().waitFor({ state: "attached", timeout: 15_000 });
    },
  ],
  nowhere: ["/nowhere", async () => {}],
  "sign-in": ["/sign-in", async () => {}],
};

for (const [name, [path, prepare]] of Object.entries(PAGES)) {
  for (const scheme of ["light", "dark"]) {
    for (const width of [1280, 360]) {
      test(`${name}, ${scheme}, ${width} pixels`, async (t) => {
        const page = await opened(t, path, { scheme, width });
        await prepare(page);
        await clean(page, name);
        await picture(page, `${name}-${scheme}-${width}`);
      });
    }
  }
}

test("a key is typed, and its rows are there", async (t) => {
  const page = await opened(t, "/tables/dynamodb/orders/rows");
  await page.locator("[name=p0]").fill("customer-large");
  await page.locator("#rows .touched").waitFor();
  await page.locator("[name=s0]").pressSequentially("2026-11-03");
  await page.locator("#rows strong", { hasText: /^[78]$/ }).first().waitFor();
  assert.match(page.url(), /p0=customer-large&op=begins&s0=2026-11-03/);
});

test("a row is added, edited and deleted with the keyboard's help", async (t) => {
  const page = await opened(t, "/tables/dynamodb/orders/rows?p0=new");
  await page.locator("[data-add]").click();
  const text = page.locator("#row-text");
  await text.fill('{"customer": {"S": "new"}, "placed": {"S": "1"}, "status": {"S": "open"}}');
  await page.locator("#row-effects", { hasText: "Index by_status: an entry is added under open / 1." }).waitFor();
  await text.press("Control+Enter");
  await page.locator("#rows tr[data-row]").waitFor();
  await page.locator("button.open").first().click();
  await page.locator('[data-do="edit"]').click();
  await text.fill((await text.inputValue()).replace("open", "sent"));
  await page.locator("#row-effects", { hasText: "moves from open / 1 to sent / 1" }).waitFor();
  await page.locator('[data-do="save"]').click();
  await page.locator("#rows td", { hasText: "sent" }).waitFor();
  await page.locator("button.open").first().click();
  await page.locator('[data-form="insert"]').click();
  await page.locator("#row pre", { hasText: "INSERT INTO" }).waitFor();
  await page.locator('[data-do="copy"]').click();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^INSERT INTO "orders"/);
  await page.locator('[data-do="delete"]').click();
  await page.locator("#row-effects", { hasText: "is deleted" }).waitFor();
  await page.locator('[data-do="delete"]').click();
  await page.locator("#rows", { hasText: "No rows have such a key." }).waitFor();
});

test("lists are walked and pages turned by keys", async (t) => {
  const page = await opened(t, "/tables");
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.name), "filter");
  await page.keyboard.type("ord");
  await page.keyboard.press("Enter");
  await page.waitForURL(/filter=ord/);
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/tables\/dynamodb\/orders$/);
  await page.keyboard.press("g");
  await page.keyboard.press("a");
  await page.waitForURL(/\/ask$/);
  await page.locator("h1").click();
  await page.keyboard.press("?");
  await page.locator("#keys[open]").waitFor();
  await clean(page, "keys");
  await page.keyboard.press("Escape");
  await page.goto("/tables/dynamodb/orders/rows");
  await page.keyboard.press("n");
  await page.waitForURL(/at=/);
  await page.keyboard.press("p");
  await page.waitForURL(/way=back/);
});

test("a request is completed, run, refused at its place and remembered", async (t) => {
  const page = await opened(t, "/ask");
  const text = page.locator("#ask-text");
  await text.pressSequentially("SELECT * FROM shop.ev");
  await page.locator("[role=option]", { hasText: "shop.events" }).waitFor();
  await clean(page, "names offered");
  await page.keyboard.press("Tab");
  assert.equal(await text.inputValue(), "SELECT * FROM shop.events");
  await text.press("Control+Enter");
  await page.locator("#ask-answer .read", { hasText: "table events" }).waitFor();
  await page.locator("#ask-answer tbody tr").first().waitFor();
  await text.fill("SELECT *\nFROM WHERE");
  await text.press("Control+Enter");
  await page.locator("#ask-answer .fault", { hasText: "line 2" }).waitFor();
  assert.equal(await text.getAttribute("aria-invalid"), "true");
  await page.reload();
  await page.locator("#ask-history").click();
  await page.locator(".past", { hasText: "SELECT * FROM shop.events" }).click();
  assert.equal(await text.inputValue(), "SELECT * FROM shop.events");
});

// The walk of docs/book/start/model.md, whose pictures are those that are taken here.
test("a model becomes tables, and its request is shown on their key lines", async (t) => {
  const page = await opened(t, "/models", { height: 760 });
  const step = (name) => picture(page, `walk-${name}`, { fullPage: false });
  await page.locator('[data-do="starter"]').click();
  await page.locator("#model-state", { hasText: "allowed" }).waitFor();
  await step("model");
  await page.locator("#tab-proofs").click();
  await page.locator("#model-part", { hasText: "certified" }).waitFor();
  await step("proofs");
  await page.locator("#tab-plan").click();
  await page.locator("[data-target]").waitFor();
  await step("plan");
  await page.locator('[data-do="replace"]').click();
  await page.waitForFunction(() => document.getElementById("model-text").value.includes("schema planned target dynamodb"));
  await page.locator("#tab-calls").click();
  await page.locator('[data-do="apply"]').click();
  await page.locator("#applied .good").waitFor();
  await step("applied");
  await page.locator("[data-ask]").first().click();
  await page.waitForURL(/\/ask/);
  await page.locator("#ask-text").press("Control+Enter");
  await page.locator("#ask-answer .key-line .touched").first().waitFor({ state: "attached" });
  await clean(page, "the answer");
  await step("asked");
});
