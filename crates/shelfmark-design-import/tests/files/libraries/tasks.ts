// Three entities of one table, as ElectroDB has them.
import { Entity, Service } from "electrodb";
import { table, client } from "./config";

const names = { first: { type: "string", required: true }, last: { type: "string" } };

export const person = new Entity(
  {
    model: { entity: "person", version: "1", service: "work" },
    attributes: {
      person: { type: "string", default: () => uuid() },
      ...names,
      office: { type: "string", required: true },
      team: { type: ["build", "sell", "help"] as const, required: true },
      hired: { type: "string", validate: /^\d{4}-\d{2}-\d{2}$/ },
      tags: { type: "set", items: "string" },
    },
    indexes: {
      person: { pk: { field: "pk", composite: ["person"] }, sk: { field: "sk", composite: [] } },
      places: {
        index: "gsi1",
        collection: "workplaces",
        pk: { field: "gsi1pk", composite: ["office"] },
        sk: { field: "gsi1sk", composite: ["team", "person"] },
      },
    },
  },
  { table, client },
);

export const office = new Entity<string>({
  model: { entity: "office", version: "1", service: "work" },
  attributes: {
    country: { type: "string" },
    office: { type: "string" },
    floor: { type: "number", padding: { length: 3, char: "0" } },
    address: { type: "map", properties: { street: { type: "string" }, zip: { type: "string" } } },
  },
  indexes: {
    offices: { pk: { field: "pk", composite: ["country"] }, sk: { field: "sk", composite: ["office"] } },
    office: {
      index: "gsi1",
      collection: "workplaces",
      pk: { field: "gsi1pk", composite: ["office"] },
      sk: { field: "gsi1sk", composite: [] },
    },
    floors: {
      index: "gsi2",
      pk: { field: "gsi2pk", template: "COUNTRY#${country}" },
      sk: { field: "gsi2sk", template: "FLOOR#${floor}" },
      condition: (attr) => attr.floor > 0,
    },
  },
}, { table, client });

export const work = new Service({ person, office });
