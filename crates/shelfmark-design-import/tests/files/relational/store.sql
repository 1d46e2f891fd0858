-- A small store, as three databases would dump it.
CREATE TYPE order_state AS ENUM ('open', 'paid', 'sent');

CREATE TABLE public.customers (
    id uuid NOT NULL,
    email varchar(120) NOT NULL UNIQUE,
    name character varying(80),
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE `products` (
  `id` bigint NOT NULL AUTO_INCREMENT,
  `title` varchar(200) NOT NULL,
  `price` decimal(10,2) NOT NULL,
  `stock` int NOT NULL DEFAULT 0,
  `visible` tinyint(1) NOT NULL,
  PRIMARY KEY (`id`),
  KEY `by_title` (`title`)
) ENGINE=InnoDB;

CREATE TABLE IF NOT EXISTS orders (
    id uuid PRIMARY KEY,
    customer_id uuid NOT NULL REFERENCES customers (id),
    state order_state NOT NULL,
    placed timestamp NOT NULL,
    note text
);

CREATE TABLE order_items (
    order_id uuid NOT NULL,
    product_id bigint NOT NULL,
    quantity integer NOT NULL CHECK (quantity > 0),
    PRIMARY KEY (order_id, product_id),
    CONSTRAINT fk_order FOREIGN KEY (order_id) REFERENCES orders(id) ON DELETE CASCADE
);

ALTER TABLE ONLY public.customers ADD CONSTRAINT customers_pkey PRIMARY KEY (id);
ALTER TABLE order_items ADD CONSTRAINT fk_product FOREIGN KEY (product_id) REFERENCES products (id);
CREATE INDEX orders_by_customer ON orders USING btree (customer_id, placed);
