//! Server for the tests of `treenail inspect`, with every kind of feature that its page shows.

mod forms;

use std::sync::Mutex;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use treenail::prelude::*;
use treenail::schema::{
    ContentBlock, CreateMessageRequestParams, LoggingLevel, PromptMessage, Role, SamplingMessage,
    SamplingMessageContentBlock, TextContent,
};
use treenail::server::Component;

use self::forms::{Haulout, Hull, Offer, Part, Payment, Port, Slip};

/// A red square of 8 by 8 pixels.
const SQUARE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR4nGM4YWGBFTEMLQkAhg8+AUVH1mQAAAAASUVORK5CYII=";

#[derive(Default)]
pub(crate) struct Boatyard {
    tide: Mutex<u32>,
}

#[mcp_tool]
impl Boatyard {
    /// Estimate a repair.
    ///
    /// The price depends on the timber and on the number of pieces.
    #[tool(read_only, title = "Estimate a repair")]
    #[expect(
        clippy::too_many_arguments,
        reason = "the form has a field of each kind"
    )]
    fn estimate(
        &self,
        /// Name of the boat
        boat: String,
        /// Port that the boat is registered in
        port: Port,
        /// Parts to replace
        parts: Vec<Part>,
        payment: Payment,
        /// Weeks until the start
        #[arg(default = 2, range = 0..=52)]
        weeks: u32,
        /// Anything else to know
        note: Option<String>,
    ) -> Result<Offer, ToolError> {
        let _ = (payment, note);
        if port.country.to_uppercase() != port.country {
            return Err(ToolError::new("the country is not in capital letters"));
        }
        let pieces: u32 = parts.iter().map(|part| part.pieces).sum();
        Ok(Offer {
            boat,
            total: 900 * u64::from(pieces),
            parts: parts.len(),
            days: weeks * 7,
        })
    }

    /// Plane a number of planks, and report the progress.
    #[tool(title = "Plane planks")]
    async fn plane(
        &self,
        cx: &Context,
        #[arg(default = 20, range = 1..=500)] planks: u32,
    ) -> String {
        cx.log(LoggingLevel::Info, json!("the plane is warming up"))
            .await;
        for plank in 1..=planks {
            tokio::time::sleep(Duration::from_millis(100)).await;
            cx.progress(plank).total(planks).message("planing").await;
        }
        format!("{planks} planks are smooth")
    }

    /// Book the slip to haul out a boat. The yard asks for the details.
    #[tool(title = "Book a haul-out")]
    async fn haul_out(&self, cx: &Context) -> Result<String, AskError> {
        let booking: Haulout = cx.elicit("When shall we haul out your boat?").await?;
        let slip = match booking.slip {
            Slip::North => "north",
            Slip::South => "south",
        };
        let insured = if booking.insured {
            "insured"
        } else {
            "not insured"
        };
        let note = booking.note.unwrap_or_else(|| "no note".to_owned());
        Ok(format!(
            "{} on {} at the {slip} slip, crew of {}, {insured}, {note}",
            booking.skipper, booking.day, booking.crew
        ))
    }

    /// Sign the contract on a page of the yard.
    #[tool(title = "Sign the contract")]
    async fn sign(&self, cx: &Context) -> Result<String, AskError> {
        cx.elicit_url(
            "Sign the contract on our page",
            "http://127.0.0.1:9/contract",
        )
        .await?;
        Ok("signed".to_owned())
    }

    /// Name a boat, with the help of a model.
    #[tool(title = "Name a boat")]
    async fn christen(&self, cx: &Context) -> Result<String, AskError> {
        let question = TextContent::new("Propose a name for a wooden ketch.");
        let question = vec![SamplingMessageContentBlock::Text(question)];
        let question = SamplingMessage::new(Role::User, question);
        let params = CreateMessageRequestParams::new(vec![question], 50);
        let answer = cx.sample(params).await?;
        match answer.content.iter().next() {
            Some(SamplingMessageContentBlock::Text(text)) => {
                Ok(format!("Her name is {}", text.text))
            }
            _ => Ok("no name".to_owned()),
        }
    }

    /// Show the varnish on the hull.
    #[tool(read_only, title = "Show the varnish")]
    fn varnish(&self) -> Vec<ContentBlock> {
        vec![
            ContentBlock::text("Two coats of red."),
            ContentBlock::image(SQUARE, "image/png"),
            ContentBlock::resource_link("tide://today", "Tide table"),
        ]
    }

    /// Burn the old ropes.
    #[tool(destructive, title = "Burn old ropes")]
    fn burn(&self) -> Result<String, ToolError> {
        Err(ToolError::new(
            "the ropes are wet: dry them for two days first",
        ))
    }

    /// Find a boat by the number of its hull, which JavaScript cannot represent.
    #[tool(read_only, title = "Find a hull")]
    fn find_hull(&self, #[arg(default = 9_007_199_254_740_993)] number: u64, length: f64) -> Hull {
        Hull { number, length }
    }

    /// Move the tide by one step.
    #[tool(title = "Turn the tide")]
    fn turn_tide(&self, cx: &Context) -> u32 {
        let mut tide = self
            .tide
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        *tide += 1;
        cx.server().resource_updated("tide://today");
        *tide
    }

    /// Open or close the paint shop.
    #[tool(title = "Open the paint shop")]
    fn paint_shop(&self, cx: &Context, open: bool) -> treenail::Result<()> {
        let varnish = Component::tool("varnish");
        cx.server().edit(|registry| {
            if open {
                registry.enable(varnish)
            } else {
                registry.disable(varnish)
            }
        })
    }

    /// Height of the tide.
    #[resource(
        "tide://today",
        title = "Tide table",
        mime_type = "application/json",
        subscribable
    )]
    fn tide(&self) -> String {
        let tide = self
            .tide
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        json!({"step": *tide, "high": ["05:12", "17:40"]}).to_string()
    }

    /// Rules of the yard.
    #[resource("yard://rules", title = "Rules of the yard", mime_type = "text/plain")]
    fn rules(&self) -> &'static str {
        "No fires on the slip.\nHard hats below the crane."
    }

    /// The flag of the yard.
    #[resource("yard://flag", title = "Flag", mime_type = "image/png")]
    fn flag(&self) -> Result<Vec<u8>, base64::DecodeError> {
        STANDARD.decode(SQUARE)
    }

    /// Drawing of a part of a boat.
    #[resource("drawing://{boat}/{part}", title = "Drawing", mime_type = "text/plain")]
    fn drawing(&self, #[arg(complete = Self::boats)] boat: String, part: String) -> String {
        format!("{part} of the {boat}")
    }

    fn boats(&self, text: &str) -> Vec<String> {
        let boats = ["Albatross", "Auk", "Kittiwake", "Petrel"];
        boats
            .into_iter()
            .filter(|boat| boat.to_lowercase().starts_with(&text.to_lowercase()))
            .map(str::to_owned)
            .collect()
    }

    /// Write to the owner of a boat.
    #[prompt(title = "Letter to the owner")]
    fn letter(
        &self,
        /// Name of the boat
        #[arg(complete = Self::boats)]
        boat: String,
        /// Friendly or strict
        tone: Option<String>,
    ) -> Vec<PromptMessage> {
        let tone = tone.unwrap_or_else(|| "friendly".to_owned());
        vec![
            PromptMessage::user(format!("Write a {tone} letter to the owner of the {boat}.")),
            PromptMessage::assistant("I begin with the weather."),
        ]
    }
}
