// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";

/// @title PlainERC721
/// @notice A contract that is not Moneta's, for tests and for the tour of `npm start`. Anyone can mint.
contract PlainERC721 is ERC721 {
    constructor() ERC721("Plain 721", "P721") {}

    function mint(address to, uint256 id) external {
        _safeMint(to, id);
    }

    /// @dev Mints without calling the receiver's hook, for a fair gas comparison.
    function mintToWallet(address to, uint256 id) external {
        _mint(to, id);
    }

    function burn(uint256 id) external {
        _update(address(0), id, msg.sender);
    }

    function _baseURI() internal pure override returns (string memory) {
        return "https://plain.example/721/";
    }
}
