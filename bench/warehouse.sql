-- W1: items that come back more than is usual of their category
WITH back AS (
  SELECT i.category_id, r.item_id, sum(r.amount) AS amount
  FROM web_returns r JOIN items i ON i.item_id = r.item_id
    JOIN days d ON d.day_id = r.day_id
  WHERE d.year IN (2021, 2022)
  GROUP BY i.category_id, r.item_id
)
SELECT i.code, c.category, b.amount
FROM back b JOIN items i ON i.item_id = b.item_id
  JOIN categories c ON c.category_id = b.category_id
WHERE b.amount > (SELECT 3 * avg(o.amount) FROM back o WHERE o.category_id = b.category_id)
ORDER BY b.amount DESC, i.code
LIMIT 100;

-- W2: parts of the day as columns, each month against the same a year before
WITH sold AS (
  SELECT d.month_no, d.year, d.month,
    sum(CASE WHEN m.part_of_day = 'morning' THEN s.paid END) AS morning,
    sum(CASE WHEN m.part_of_day = 'afternoon' THEN s.paid END) AS afternoon,
    sum(CASE WHEN m.part_of_day = 'evening' THEN s.paid END) AS evening
  FROM (SELECT day_id, moment_id, paid FROM shop_sales
      UNION ALL SELECT day_id, moment_id, paid FROM web_sales) s
    JOIN days d ON d.day_id = s.day_id JOIN moments m ON m.moment_id = s.moment_id
  GROUP BY d.month_no, d.year, d.month
)
SELECT a.year, a.month, a.morning, a.morning / b.morning AS mornings,
  a.afternoon / b.afternoon AS afternoons, a.evening / b.evening AS evenings
FROM sold a JOIN sold b ON b.month_no = a.month_no - 12
ORDER BY a.year, a.month;

-- W3: what brands bring in before the holidays, year by year
SELECT d.year, i.brand, sum(s.paid) AS revenue, count(*) AS lines
FROM shop_sales s JOIN items i ON i.item_id = s.item_id JOIN days d ON d.day_id = s.day_id
WHERE d.month = 11 AND i.manager_no <= 25
GROUP BY d.year, i.brand
ORDER BY d.year, revenue DESC NULLS LAST, i.brand
LIMIT 100;

-- W4: preferred customers of an age who turn from shops to the web
WITH spent AS (
  SELECT c.customer_id, c.code, d.year, 's' AS channel, sum(s.paid) AS total
  FROM customers c JOIN shop_sales s ON s.customer_id = c.customer_id
    JOIN days d ON d.day_id = s.day_id
  WHERE d.year IN (2021, 2022) AND c.preferred = 'Y'
    AND c.birth_year BETWEEN 1975 AND 1994
  GROUP BY c.customer_id, c.code, d.year
  UNION ALL
  SELECT c.customer_id, c.code, d.year, 'w' AS channel, sum(s.paid) AS total
  FROM customers c JOIN web_sales s ON s.customer_id = c.customer_id
    JOIN days d ON d.day_id = s.day_id
  WHERE d.year IN (2021, 2022) AND c.preferred = 'Y'
    AND c.birth_year BETWEEN 1975 AND 1994
  GROUP BY c.customer_id, c.code, d.year
)
SELECT s1.code, s1.total AS shop_before, s2.total AS shop_after,
  w1.total AS web_before, w2.total AS web_after
FROM spent s1 JOIN spent s2 ON s2.customer_id = s1.customer_id
  JOIN spent w1 ON w1.customer_id = s1.customer_id
  JOIN spent w2 ON w2.customer_id = s1.customer_id
WHERE s1.channel = 's' AND s1.year = 2021 AND s2.channel = 's' AND s2.year = 2022
  AND w1.channel = 'w' AND w1.year = 2021 AND w2.channel = 'w' AND w2.year = 2022
  AND s1.total > 0 AND w1.total > 0
  AND w2.total / w1.total > s2.total / s1.total
ORDER BY s1.code
LIMIT 100;

-- W5: sales and returns of all outlets, by channel and altogether
WITH moved AS (
  SELECT 'shop' AS channel, shop_id AS outlet, day_id, paid, profit,
    0.00 AS back, 0.00 AS loss FROM shop_sales
  UNION ALL SELECT 'shop', shop_id, day_id, 0.00, 0.00, amount, loss FROM shop_returns
  UNION ALL SELECT 'web', page_id, day_id, paid, profit, 0.00, 0.00 FROM web_sales
  UNION ALL SELECT 'web', page_id, day_id, 0.00, 0.00, amount, loss FROM web_returns
  UNION ALL SELECT 'phone', centre_id, day_id, paid, profit, 0.00, 0.00 FROM phone_sales
  UNION ALL SELECT 'phone', centre_id, day_id, 0.00, 0.00, amount, loss FROM phone_returns
)
SELECT channel, outlet, sum(paid) AS paid, sum(back) AS back, sum(profit - loss) AS gain,
  grouping(channel, outlet) AS level
FROM moved JOIN days d ON d.day_id = moved.day_id
WHERE d.year = 2022
GROUP BY ROLLUP (channel, outlet)
ORDER BY level, channel, outlet;

-- W6: regions of customers who buy what is dear for its category
SELECT a.region, count(*) AS lines, count(DISTINCT c.customer_id) AS customers
FROM addresses a JOIN customers c ON c.address_id = a.address_id
  JOIN shop_sales s ON s.customer_id = c.customer_id
  JOIN days d ON d.day_id = s.day_id JOIN items i ON i.item_id = s.item_id
WHERE d.month_no = (SELECT DISTINCT month_no FROM days WHERE year = 2021 AND month = 12)
  AND d.weekend = 'Y'
  AND i.list_price > 1.2 * (SELECT avg(j.list_price) FROM items j
    WHERE j.category_id = i.category_id)
GROUP BY a.region
HAVING count(*) >= 10
ORDER BY lines, a.region;

-- W7: averages by item for one kind of people, without letters
SELECT i.code, avg(s.quantity) AS quantity, avg(s.list_price) AS list_price,
  avg(s.discount) AS discount, avg(s.price) AS price
FROM shop_sales s JOIN people p ON p.person_id = s.person_id
  JOIN days d ON d.day_id = s.day_id JOIN items i ON i.item_id = s.item_id
  JOIN promotions o ON o.promotion_id = s.promotion_id
WHERE p.gender = 'F' AND p.marital = 'single' AND p.education = 'college'
  AND (o.email = 'N' OR o.television = 'N') AND d.year = 2020
GROUP BY i.code
ORDER BY i.code
LIMIT 100;

-- W8: cities where many preferred customers live and much is sent
SELECT a.city, a.region FROM customers c JOIN addresses a ON a.address_id = c.address_id
WHERE c.preferred = 'Y' AND a.city IS NOT NULL
GROUP BY a.city, a.region HAVING count(*) > 5
INTERSECT
SELECT a.city, a.region FROM web_sales s JOIN addresses a ON a.address_id = s.address_id
WHERE substring(a.postcode, 1, 1) IN ('0', '2', '4', '6', '8')
GROUP BY a.city, a.region HAVING sum(s.paid) > (SELECT avg(total) FROM (
    SELECT sum(w.paid) AS total FROM web_sales w
      JOIN addresses b ON b.address_id = w.address_id
    WHERE b.kind = 'house' GROUP BY b.city, b.region) AS t)
ORDER BY 1, 2;

-- W9: one figure or the other, by how many lines have few or many pieces
SELECT n.band,
  CASE WHEN (SELECT count(*) FROM phone_sales WHERE quantity BETWEEN n.low AND n.high)
      > (SELECT count(*) FROM phone_sales WHERE quantity > 20)
    THEN (SELECT avg(discount) FROM phone_sales WHERE quantity BETWEEN n.low AND n.high)
    ELSE (SELECT avg(paid) FROM phone_sales WHERE quantity BETWEEN n.low AND n.high)
  END AS figure
FROM (VALUES ('few', 1, 5), ('some', 6, 12), ('many', 13, 25), ('most', 26, 40))
  AS n(band, low, high)
ORDER BY n.band;

-- W10: who bought in a shop, and on the web or by phone
SELECT p.gender, p.marital, p.credit, count(*) AS number, min(p.children) AS least,
  max(p.children) AS most, avg(p.yearly_spending) AS spending
FROM customers c JOIN addresses a ON a.address_id = c.address_id
  JOIN people p ON p.person_id = c.person_id
WHERE a.region IN ('NA', 'NB', 'SA', 'WC')
  AND EXISTS (SELECT 1 FROM shop_sales s JOIN days d ON d.day_id = s.day_id
    WHERE s.customer_id = c.customer_id AND d.year = 2021 AND d.quarter < 4)
  AND (EXISTS (SELECT 1 FROM web_sales s JOIN days d ON d.day_id = s.day_id
      WHERE s.customer_id = c.customer_id AND d.year = 2021 AND d.quarter < 4)
    OR EXISTS (SELECT 1 FROM phone_sales s JOIN days d ON d.day_id = s.day_id
      WHERE s.recipient_id = c.customer_id AND d.year = 2021 AND d.quarter < 4))
GROUP BY p.gender, p.marital, p.credit
ORDER BY p.gender, p.marital, p.credit;

-- W11: who ordered by phone and nothing on the web, by year of birth
SELECT c.birth_year, count(DISTINCT c.customer_id) AS customers, sum(s.paid) AS paid
FROM phone_sales s JOIN customers c ON c.customer_id = s.customer_id
WHERE NOT EXISTS (SELECT 1 FROM web_sales w WHERE w.customer_id = c.customer_id)
  AND c.birth_year % 10 IN (0, 5)
GROUP BY c.birth_year
HAVING count(*) > 1
ORDER BY c.birth_year;

-- W12: an item's share of its category
SELECT c.department, c.category, i.code, sum(s.paid) AS revenue,
  100 * sum(s.paid) / sum(sum(s.paid)) OVER (PARTITION BY c.category) AS share
FROM web_sales s JOIN items i ON i.item_id = s.item_id
  JOIN categories c ON c.category_id = i.category_id JOIN days d ON d.day_id = s.day_id
  JOIN pages g ON g.page_id = s.page_id
WHERE c.department IN ('Books', 'Garden', 'Shoes') AND g.url NOT LIKE '/music/%'
  AND d.day >= date '2021-02-22' AND d.day < date '2021-02-22' + interval '30 days'
GROUP BY c.department, c.category, i.code
ORDER BY share DESC NULLS LAST, c.category, i.code
LIMIT 100;

-- W13: averages where people, households and places fit one way or another
SELECT avg(s.quantity) AS quantity, avg(s.price) AS price, sum(s.cost) AS cost,
  count(*) AS lines
FROM shop_sales s JOIN shops o ON o.shop_id = s.shop_id
  JOIN days d ON d.day_id = s.day_id JOIN people p ON p.person_id = s.person_id
  JOIN households h ON h.household_id = s.household_id
  JOIN addresses a ON a.address_id = s.address_id
WHERE d.year = 2021
  AND ((p.marital = 'married' AND p.education = 'degree' AND h.children = 3
      AND s.price BETWEEN 10 AND 150)
    OR (p.marital = 'single' AND p.education = 'college' AND h.children <= 1
      AND s.price BETWEEN 5 AND 100))
  AND ((a.region IN ('NA', 'EB', 'SC') AND s.profit BETWEEN -100 AND 2000)
    OR (a.region IN ('NB', 'EA', 'WA', 'WB') AND s.profit BETWEEN 0 AND 300));

-- W14: colours and brands sold in all channels, where they sell above the average
WITH everywhere AS (
  SELECT i.brand, i.colour FROM shop_sales s JOIN items i ON i.item_id = s.item_id
    JOIN days d ON d.day_id = s.day_id WHERE d.year = 2022 AND d.month = 3
  INTERSECT
  SELECT i.brand, i.colour FROM web_sales s JOIN items i ON i.item_id = s.item_id
    JOIN days d ON d.day_id = s.day_id WHERE d.year = 2022 AND d.month = 3
  INTERSECT
  SELECT i.brand, i.colour FROM phone_sales s JOIN items i ON i.item_id = s.item_id
    JOIN days d ON d.day_id = s.day_id WHERE d.year = 2022 AND d.month = 3
), usual AS (
  SELECT avg(quantity * price) AS amount FROM (
    SELECT quantity, price FROM shop_sales
    UNION ALL SELECT quantity, price FROM web_sales
    UNION ALL SELECT quantity, price FROM phone_sales) AS a
)
SELECT i.brand, i.colour, sum(s.quantity * s.price) AS amount, count(*) AS lines
FROM shop_sales s JOIN items i ON i.item_id = s.item_id
  JOIN everywhere e ON e.brand = i.brand AND e.colour = i.colour
GROUP BY i.brand, i.colour
HAVING avg(s.quantity * s.price) > (SELECT amount FROM usual)
ORDER BY amount DESC NULLS LAST, i.brand, i.colour
LIMIT 100;

-- W15: what comes back of each brand in all channels, by year, in all combinations
SELECT i.brand, d.year, count(*) AS returns, sum(r.amount) AS amount,
  max(r.amount) AS most, grouping(i.brand, d.year) AS level
FROM (SELECT item_id, day_id, amount FROM shop_returns
    UNION ALL SELECT item_id, day_id, amount FROM web_returns
    UNION ALL SELECT item_id, day_id, amount FROM phone_returns) AS r
  JOIN items i ON i.item_id = r.item_id JOIN days d ON d.day_id = r.day_id
WHERE i.brand IS NOT NULL
GROUP BY CUBE (i.brand, d.year)
ORDER BY level DESC, amount DESC NULLS LAST, i.brand, d.year
LIMIT 150;

-- W16: orders sent from more than one depot, of which nothing came back
SELECT count(DISTINCT s.ticket_id) AS orders, sum(s.freight) AS freight,
  sum(s.profit) AS profit
FROM web_sales s JOIN days d ON d.day_id = s.sent_day_id
  JOIN addresses a ON a.address_id = s.address_id JOIN sites t ON t.site_id = s.site_id
WHERE d.day BETWEEN date '2022-02-01' AND date '2022-04-01' AND a.country = 'Norland'
  AND t.company IN ('able', 'cargo', 'eager')
  AND EXISTS (SELECT 1 FROM web_sales o
    WHERE o.ticket_id = s.ticket_id AND o.depot_id <> s.depot_id)
  AND NOT EXISTS (SELECT 1 FROM web_returns r WHERE r.ticket_id = s.ticket_id);

-- W17: how quantities vary from a shop's sale to its return and what is ordered after
SELECT i.category_id, o.region, count(*) AS number, avg(s.quantity) AS sold,
  stddev_samp(s.quantity) / avg(s.quantity) AS spread, avg(r.quantity) AS back,
  avg(p.quantity) AS ordered, max(p.paid) AS most
FROM shop_sales s
  JOIN shop_returns r ON r.ticket_id = s.ticket_id AND r.line_no = s.line_no
  JOIN phone_sales p ON p.customer_id = r.customer_id
  JOIN days d1 ON d1.day_id = s.day_id JOIN days d2 ON d2.day_id = r.day_id
  JOIN days d3 ON d3.day_id = p.day_id
  JOIN shops o ON o.shop_id = s.shop_id JOIN items i ON i.item_id = s.item_id
WHERE d1.year = 2021 AND d2.day > d1.day AND d3.day > d2.day
  AND d3.day <= d2.day + 365
GROUP BY i.category_id, o.region
ORDER BY number DESC, i.category_id NULLS LAST, o.region
LIMIT 100;

-- W18: averages by country, region and city of who buys
SELECT a.country, a.region, a.city, avg(s.quantity) AS quantity, avg(s.price) AS price,
  avg(c.birth_year) AS birth_year, count(*) AS lines,
  grouping(a.country, a.region, a.city) AS level
FROM phone_sales s JOIN customers c ON c.customer_id = s.customer_id
  JOIN people p ON p.person_id = s.person_id
  JOIN addresses a ON a.address_id = c.address_id JOIN days d ON d.day_id = s.day_id
  JOIN call_centres t ON t.centre_id = s.centre_id AND t.hours <> '8-16'
WHERE p.gender = 'F' AND d.year = 2020 AND c.birth_month IN (1, 6, 8, 9, 12)
  AND a.city IS NOT NULL
GROUP BY ROLLUP (a.country, a.region, a.city)
ORDER BY level DESC, a.country, a.region, a.city
LIMIT 200;

-- W19: brands bought away from home
SELECT i.brand, c2.department, sum(s.paid) AS revenue
FROM shop_sales s JOIN days d ON d.day_id = s.day_id
  JOIN items i ON i.item_id = s.item_id
  JOIN categories c2 ON c2.category_id = i.category_id
  JOIN customers c ON c.customer_id = s.customer_id
  JOIN addresses a ON a.address_id = c.address_id
  JOIN shops o ON o.shop_id = s.shop_id
WHERE d.year = 2022 AND d.month BETWEEN 10 AND 12 AND a.city <> o.city
  AND a.country = o.country AND i.brand IS NOT NULL
GROUP BY i.brand, c2.department
ORDER BY revenue DESC NULLS LAST, i.brand, c2.department
LIMIT 100;

-- W20: items that never come back, by department and where they are from
SELECT c.department, u.country, count(*) AS items, min(i.list_price) AS least,
  max(i.list_price) AS most, avg(i.list_price - i.cost) AS margin
FROM items i JOIN categories c ON c.category_id = i.category_id
  JOIN suppliers u ON u.supplier_id = i.supplier_id
WHERE i.item_id NOT IN (SELECT item_id FROM shop_returns)
  AND i.item_id NOT IN (SELECT item_id FROM web_returns WHERE reason_id IS NOT NULL)
GROUP BY c.department, u.country
ORDER BY c.department, u.country;

-- W21: stock before and after a day, where it changed much
SELECT p.depot, i.code,
  sum(CASE WHEN d.day < date '2023-03-15' THEN s.quantity ELSE 0 END) AS before,
  sum(CASE WHEN d.day >= date '2023-03-15' THEN s.quantity ELSE 0 END) AS after
FROM stock s JOIN depots p ON p.depot_id = s.depot_id
  JOIN items i ON i.item_id = s.item_id JOIN days d ON d.day_id = s.day_id
WHERE i.list_price BETWEEN 1.99 AND 19.49
  AND d.day BETWEEN date '2023-03-15' - 45 AND date '2023-03-15' + 45
GROUP BY p.depot, i.code
HAVING sum(CASE WHEN d.day < date '2023-03-15' THEN s.quantity ELSE 0 END) > 0
  AND sum(CASE WHEN d.day >= date '2023-03-15' THEN s.quantity ELSE 0 END)
    > 3 * sum(CASE WHEN d.day < date '2023-03-15' THEN s.quantity ELSE 0 END)
ORDER BY p.depot, i.code
LIMIT 100;

-- W22: average stock by department, category and colour
SELECT c.department, c.category, i.colour, avg(s.quantity) AS quantity, count(*) AS counts
FROM stock s JOIN days d ON d.day_id = s.day_id JOIN items i ON i.item_id = s.item_id
  JOIN categories c ON c.category_id = i.category_id
WHERE d.month_no BETWEEN 60 AND 71
GROUP BY ROLLUP (c.department, c.category, i.colour)
ORDER BY quantity, c.department NULLS FIRST, c.category NULLS FIRST, i.colour NULLS FIRST
LIMIT 100;

-- W23: what the best customers order of what is bought most often
WITH often AS (
  SELECT s.item_id, count(DISTINCT d.day) AS days
  FROM shop_sales s JOIN days d ON d.day_id = s.day_id
  WHERE d.year BETWEEN 2020 AND 2022
  GROUP BY s.item_id
  HAVING count(DISTINCT d.day) > 30
), spent AS (
  SELECT customer_id, sum(quantity * price) AS amount FROM shop_sales
  WHERE customer_id IS NOT NULL GROUP BY customer_id
), best AS (
  SELECT customer_id FROM spent WHERE amount > (SELECT 0.2 * max(amount) FROM spent)
)
SELECT c.last_name, c.first_name, sum(o.amount) AS amount
FROM (
  SELECT s.customer_id, s.quantity * s.list_price AS amount
  FROM phone_sales s JOIN days d ON d.day_id = s.day_id
  WHERE d.year = 2022 AND d.month <= 6 AND s.item_id IN (SELECT item_id FROM often)
    AND s.customer_id IN (SELECT customer_id FROM best)
  UNION ALL
  SELECT s.customer_id, s.quantity * s.list_price AS amount
  FROM web_sales s JOIN days d ON d.day_id = s.day_id
  WHERE d.year = 2022 AND d.month <= 6 AND s.item_id IN (SELECT item_id FROM often)
    AND s.customer_id IN (SELECT customer_id FROM best)
) o JOIN customers c ON c.customer_id = o.customer_id
GROUP BY c.last_name, c.first_name
ORDER BY amount DESC NULLS LAST, c.last_name NULLS LAST, c.first_name NULLS LAST
LIMIT 100;

-- W24: who paid more than is usual for returned goods of one colour
WITH sold AS (
  SELECT c.last_name, c.first_name, o.shop, i.colour, sum(s.paid) AS paid
  FROM shop_sales s
    JOIN shop_returns r ON r.ticket_id = s.ticket_id AND r.item_id = s.item_id
    JOIN shops o ON o.shop_id = s.shop_id JOIN items i ON i.item_id = s.item_id
    JOIN customers c ON c.customer_id = s.customer_id
    JOIN reasons e ON e.reason_id = r.reason_id
  WHERE upper(i.description) LIKE '%LAMP%' AND e.reason NOT LIKE '%, gift'
  GROUP BY c.last_name, c.first_name, o.shop, i.colour
)
SELECT last_name, first_name, shop, sum(paid) AS paid
FROM sold
WHERE colour IN ('plum', 'teal')
GROUP BY last_name, first_name, shop
HAVING sum(paid) > (SELECT 0.5 * avg(paid) FROM sold)
ORDER BY last_name, first_name, shop;

-- W25: items sold in a shop, returned, and ordered by the same customer
SELECT i.code, o.shop, sum(s.profit) AS sold, sum(r.loss) AS lost, sum(w.profit) AS again
FROM shop_sales s
  JOIN shop_returns r ON r.ticket_id = s.ticket_id AND r.line_no = s.line_no
    AND r.customer_id = s.customer_id
  JOIN web_sales w ON w.customer_id = r.customer_id
  JOIN items i ON i.item_id = s.item_id JOIN shops o ON o.shop_id = s.shop_id
  JOIN days d1 ON d1.day_id = s.day_id JOIN days d2 ON d2.day_id = r.day_id
  JOIN days d3 ON d3.day_id = w.day_id
WHERE d1.year = 2021 AND d1.month = 4 AND d2.year = 2021 AND d2.month BETWEEN 4 AND 10
  AND d3.year IN (2021, 2022)
GROUP BY i.code, o.shop
ORDER BY i.code, o.shop
LIMIT 100;

-- W26: regions and shops by sales, in several groupings
SELECT o.country, o.region, p.gender, count(*) AS lines, sum(s.paid) AS paid,
  grouping(o.country) AS no_country, grouping(o.region) AS no_region,
  grouping(p.gender) AS no_gender
FROM shop_sales s JOIN shops o ON o.shop_id = s.shop_id
  JOIN people p ON p.person_id = s.person_id JOIN days d ON d.day_id = s.day_id
WHERE d.year = 2022 AND p.marital IN ('married', 'divorced')
GROUP BY GROUPING SETS ((o.country, o.region), (o.country, p.gender), (p.gender), ())
ORDER BY no_country, no_region, no_gender, o.country, o.region, p.gender;

-- W27: ranks of categories by margin, within each level of a rollup
SELECT sum(s.profit) / sum(s.paid) AS margin, c.department, c.category,
  grouping(c.department) + grouping(c.category) AS level,
  rank() OVER (PARTITION BY grouping(c.department) + grouping(c.category),
      CASE WHEN grouping(c.category) = 0 THEN c.department END
    ORDER BY sum(s.profit) / sum(s.paid)) AS place
FROM phone_sales s JOIN days d ON d.day_id = s.day_id
  JOIN items i ON i.item_id = s.item_id JOIN categories c ON c.category_id = i.category_id
WHERE d.year = 2021
GROUP BY ROLLUP (c.department, c.category)
ORDER BY level DESC, c.department NULLS FIRST, place, c.category NULLS FIRST;

-- W28: list prices by bands of quantity, all in one row
SELECT a.average AS a_average, a.number AS a_number, a.different AS a_different,
  b.average AS b_average, b.number AS b_number, b.different AS b_different,
  c.average AS c_average, c.number AS c_number, c.different AS c_different
FROM (SELECT avg(list_price) AS average, count(list_price) AS number,
    count(DISTINCT list_price) AS different
    FROM shop_sales WHERE quantity BETWEEN 1 AND 3
      AND (list_price BETWEEN 8 AND 18 OR discount BETWEEN 5 AND 100)) a
  CROSS JOIN (SELECT avg(list_price) AS average, count(list_price) AS number,
    count(DISTINCT list_price) AS different
    FROM shop_sales WHERE quantity BETWEEN 4 AND 7
      AND (list_price BETWEEN 90 AND 120 OR discount BETWEEN 1 AND 30)) b
  CROSS JOIN (SELECT avg(list_price) AS average, count(list_price) AS number,
    count(DISTINCT list_price) AS different
    FROM shop_sales WHERE quantity >= 8
      AND (list_price BETWEEN 142 AND 180 OR cost BETWEEN 50 AND 60)) c;

-- W29: pairs of customer and item in shops only, on the web only, in both
WITH shop AS (
  SELECT s.customer_id, s.item_id FROM shop_sales s JOIN days d ON d.day_id = s.day_id
  WHERE d.year = 2021 AND s.customer_id IS NOT NULL GROUP BY s.customer_id, s.item_id
), web AS (
  SELECT s.customer_id, s.item_id FROM web_sales s JOIN days d ON d.day_id = s.day_id
  WHERE d.year = 2021 AND s.customer_id IS NOT NULL GROUP BY s.customer_id, s.item_id
)
SELECT sum(CASE WHEN web.customer_id IS NULL THEN 1 ELSE 0 END) AS shop_only,
  sum(CASE WHEN shop.customer_id IS NULL THEN 1 ELSE 0 END) AS web_only,
  sum(CASE WHEN shop.customer_id IS NOT NULL AND web.customer_id IS NOT NULL
    THEN 1 ELSE 0 END) AS both_ways
FROM shop FULL JOIN web ON web.customer_id = shop.customer_id
  AND web.item_id = shop.item_id;

-- W30: days on which the web's running total of an item is ahead of the shops'
WITH web AS (
  SELECT s.item_id, d.day, sum(sum(s.paid)) OVER (PARTITION BY s.item_id ORDER BY d.day
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS total
  FROM web_sales s JOIN days d ON d.day_id = s.day_id
  WHERE d.month_no BETWEEN 37 AND 48 AND s.item_id <= 100
  GROUP BY s.item_id, d.day
), shop AS (
  SELECT s.item_id, d.day, sum(sum(s.paid)) OVER (PARTITION BY s.item_id ORDER BY d.day
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS total
  FROM shop_sales s JOIN days d ON d.day_id = s.day_id
  WHERE d.month_no BETWEEN 37 AND 48 AND s.item_id <= 100
  GROUP BY s.item_id, d.day
)
SELECT item_id, day, web_total, shop_total
FROM (
  SELECT item_id, day,
    max(web) OVER (PARTITION BY item_id ORDER BY day
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS web_total,
    max(shop) OVER (PARTITION BY item_id ORDER BY day
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS shop_total
  FROM (
    SELECT coalesce(web.item_id, shop.item_id) AS item_id,
      coalesce(web.day, shop.day) AS day, web.total AS web, shop.total AS shop
    FROM web FULL JOIN shop ON shop.item_id = web.item_id AND shop.day = web.day) AS x
) AS y
WHERE web_total > 5 * shop_total
ORDER BY item_id, day
LIMIT 100;

-- W31: months in which a brand sold much less or more than usual, and its neighbours
WITH monthly AS (
  SELECT c.department, i.brand, d.year, d.month, sum(s.paid) AS paid,
    avg(sum(s.paid)) OVER (PARTITION BY c.department, i.brand, d.year) AS usual,
    lag(sum(s.paid)) OVER w AS before, lead(sum(s.paid)) OVER w AS after
  FROM items i JOIN categories c ON c.category_id = i.category_id
    JOIN shop_sales s ON s.item_id = i.item_id JOIN days d ON d.day_id = s.day_id
  WHERE i.brand IS NOT NULL AND d.year BETWEEN 2020 AND 2022
  GROUP BY c.department, i.brand, d.year, d.month
  WINDOW w AS (PARTITION BY c.department, i.brand ORDER BY d.year, d.month)
)
SELECT department, brand, month, paid - usual AS difference, paid, usual, before, after
FROM monthly
WHERE year = 2021 AND usual > 0 AND abs(paid - usual) / usual > 0.8
ORDER BY difference, department, brand, month
LIMIT 100;

-- W32: lines whose outlet or customer is not known, by channel
SELECT channel, missing, year, quarter, department, count(*) AS lines, sum(paid) AS paid
FROM (
  SELECT 'shop' AS channel, 'shop_id' AS missing, d.year, d.quarter, c.department, s.paid
  FROM shop_sales s JOIN items i ON i.item_id = s.item_id
    JOIN categories c ON c.category_id = i.category_id JOIN days d ON d.day_id = s.day_id
  WHERE s.shop_id IS NULL
  UNION ALL
  SELECT 'web', 'customer_id', d.year, d.quarter, c.department, s.paid
  FROM web_sales s JOIN items i ON i.item_id = s.item_id
    JOIN categories c ON c.category_id = i.category_id JOIN days d ON d.day_id = s.day_id
  WHERE s.customer_id IS NULL
  UNION ALL
  SELECT 'phone', 'depot_id', d.year, d.quarter, c.department, s.paid
  FROM phone_sales s JOIN items i ON i.item_id = s.item_id
    JOIN categories c ON c.category_id = i.category_id JOIN days d ON d.day_id = s.day_id
  WHERE s.depot_id IS NULL
) AS u
GROUP BY channel, missing, year, quarter, department
ORDER BY channel, missing, year, quarter, department
LIMIT 100;

-- W33: the three items of each shop that bring the most
SELECT shop, place, code, profit
FROM (
  SELECT o.shop, i.code, sum(s.profit) AS profit,
    rank() OVER (PARTITION BY o.shop ORDER BY sum(s.profit) DESC, i.code) AS place
  FROM shop_sales s JOIN shops o ON o.shop_id = s.shop_id
    JOIN items i ON i.item_id = s.item_id
  WHERE o.closed IS NULL AND o.employees > 20
  GROUP BY o.shop, i.code
) AS ranked
WHERE place <= 3
ORDER BY shop, place;

-- W34: the best and the worst items of a shop side by side
WITH gain AS (
  SELECT item_id, avg(profit) AS gain FROM shop_sales
  WHERE shop_id = 4 GROUP BY item_id
  HAVING avg(profit) > 0.1 * (SELECT avg(profit) FROM shop_sales
    WHERE shop_id = 4 AND address_id IS NOT NULL)
)
SELECT up.place, i.item AS best, j.item AS worst
FROM (SELECT item_id, row_number() OVER (ORDER BY gain, item_id) AS place FROM gain) up
  JOIN (SELECT item_id, row_number() OVER (ORDER BY gain DESC, item_id) AS place
    FROM gain) down ON down.place = up.place
  JOIN items i ON i.item_id = down.item_id JOIN items j ON j.item_id = up.item_id
WHERE up.place <= 20
ORDER BY up.place;

-- W35: days from order to sending, as columns
SELECT substring(p.depot, 7, 12) AS depot, c.speed, t.company,
  sum(CASE WHEN d2.day - d1.day <= 30 THEN 1 ELSE 0 END) AS days_30,
  sum(CASE WHEN d2.day - d1.day BETWEEN 31 AND 60 THEN 1 ELSE 0 END) AS days_60,
  sum(CASE WHEN d2.day - d1.day BETWEEN 61 AND 90 THEN 1 ELSE 0 END) AS days_90,
  sum(CASE WHEN d2.day - d1.day > 90 THEN 1 ELSE 0 END) AS more
FROM web_sales s JOIN days d1 ON d1.day_id = s.day_id
  JOIN days d2 ON d2.day_id = s.sent_day_id JOIN depots p ON p.depot_id = s.depot_id
  JOIN carriers c ON c.carrier_id = s.carrier_id JOIN sites t ON t.site_id = s.site_id
WHERE d2.month_no BETWEEN 49 AND 60
GROUP BY substring(p.depot, 7, 12), c.speed, t.company
ORDER BY depot, c.speed, t.company
LIMIT 100;

-- W36: names and days in shops that are neither on the web nor by phone
SELECT count(*) AS number, count(DISTINCT last_name) AS names, min(day) AS first_day
FROM (
  SELECT c.last_name, c.first_name, d.day FROM shop_sales s
    JOIN days d ON d.day_id = s.day_id JOIN customers c ON c.customer_id = s.customer_id
  WHERE d.year = 2021
  EXCEPT
  SELECT c.last_name, c.first_name, d.day FROM web_sales s
    JOIN days d ON d.day_id = s.day_id JOIN customers c ON c.customer_id = s.customer_id
  WHERE d.year = 2021
  EXCEPT
  SELECT c.last_name, c.first_name, d.day FROM phone_sales s
    JOIN days d ON d.day_id = s.day_id JOIN customers c ON c.customer_id = s.customer_id
  WHERE d.year = 2021
) AS only_shop;

-- W37: people, households and incomes, in all combinations
SELECT gender, spending, income, count(*) AS lines, sum(paid) AS paid,
  avg(discount) AS discount, grouping(gender, spending, income) AS level
FROM (
  SELECT p.gender, h.spending, s.paid, s.discount,
    CASE WHEN b.high < 50000 THEN 'to 50,000' WHEN b.low >= 150000 THEN 'from 150,000'
      ELSE 'between' END AS income
  FROM web_sales s JOIN people p ON p.person_id = s.person_id
    JOIN households h ON h.household_id = s.household_id
    JOIN income_bands b ON b.band_id = h.band_id
  WHERE s.quantity > 10
) AS x
GROUP BY CUBE (gender, spending, income)
ORDER BY level, gender, spending, income;

-- W38: items whose stock varies much, in two months that follow each other
WITH counted AS (
  SELECT i.category_id, s.depot_id, d.month_no, stddev_samp(s.quantity) AS spread,
    avg(s.quantity) AS average
  FROM stock s JOIN items i ON i.item_id = s.item_id JOIN days d ON d.day_id = s.day_id
  WHERE d.year = 2023
  GROUP BY i.category_id, s.depot_id, d.month_no
)
SELECT a.category_id, a.depot_id, a.month_no, a.average, a.spread / a.average AS varies,
  b.average AS next_average, b.spread / b.average AS next_varies
FROM counted a JOIN counted b ON b.category_id = a.category_id
  AND b.depot_id = a.depot_id AND b.month_no = a.month_no + 1
WHERE a.average > 0 AND b.average > 0 AND a.spread / a.average > 1
  AND b.spread / b.average > 1
ORDER BY a.category_id, a.depot_id, a.month_no
LIMIT 100;

-- W39: what each promotion brought beside its cost, also those that brought nothing
SELECT o.promotion, o.cost, count(s.ticket_id) AS lines, sum(s.paid) AS paid,
  count(DISTINCT s.customer_id) AS customers, min(d.day - f.day) AS days_after
FROM promotions o JOIN days f ON f.day_id = o.first_day_id
  LEFT JOIN (shop_sales s JOIN days d ON d.day_id = s.day_id AND d.holiday = 'Y')
    ON s.promotion_id = o.promotion_id AND d.day BETWEEN f.day AND f.day + 60
WHERE o.television = 'Y' OR o.leaflet IS NULL
GROUP BY o.promotion, o.cost
ORDER BY paid DESC NULLS LAST, o.promotion;

-- W40: sales less returns before and after a day, by depot's region
SELECT p.region, i.code,
  sum(CASE WHEN d.day < date '2022-06-30' THEN s.paid - coalesce(r.refund, 0)
    ELSE 0 END) AS before,
  sum(CASE WHEN d.day >= date '2022-06-30' THEN s.paid - coalesce(r.refund, 0)
    ELSE 0 END) AS after
FROM web_sales s LEFT JOIN web_returns r ON r.ticket_id = s.ticket_id
    AND r.line_no = s.line_no
  JOIN depots p ON p.depot_id = s.depot_id JOIN items i ON i.item_id = s.item_id
  JOIN days d ON d.day_id = s.day_id
WHERE i.item LIKE '%l%a%p%' AND i.unit || '/' || i.size NOT LIKE 'box/%'
  AND d.day BETWEEN date '2022-06-30' - 60 AND date '2022-06-30' + 60
GROUP BY p.region, i.code
ORDER BY p.region, i.code
LIMIT 100;
